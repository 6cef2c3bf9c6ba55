from tests.adapters.ports.test_screenings import *  # noqa: F403  the very same tests

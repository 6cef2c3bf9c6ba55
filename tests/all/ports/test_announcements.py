from tests.adapters.ports.test_announcements import *  # noqa: F403  the very same tests

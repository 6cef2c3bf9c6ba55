from tests.adapters.ports.test_answers import *  # noqa: F403  the very same tests

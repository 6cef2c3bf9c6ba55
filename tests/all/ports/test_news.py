from tests.adapters.ports.test_news import *  # noqa: F403  the very same tests

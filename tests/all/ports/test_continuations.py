from tests.adapters.ports.test_continuations import *  # noqa: F403  the very same tests

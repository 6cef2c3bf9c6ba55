from tests.adapters.ports.test_graph import *  # noqa: F403  the very same tests

from tests.adapters.ports.test_dead_letters import *  # noqa: F403  the very same tests

from tests.adapters.ports.test_checkpoints import *  # noqa: F403  the very same tests

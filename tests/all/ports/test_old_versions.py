from tests.adapters.ports.test_old_versions import *  # noqa: F403  the very same tests

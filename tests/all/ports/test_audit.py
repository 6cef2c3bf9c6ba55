from tests.adapters.ports.test_audit import *  # noqa: F403  the very same tests

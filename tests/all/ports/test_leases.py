from tests.adapters.ports.test_leases import *  # noqa: F403  the very same tests

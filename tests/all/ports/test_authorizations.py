from tests.adapters.ports.test_authorizations import *  # noqa: F403  the very same tests

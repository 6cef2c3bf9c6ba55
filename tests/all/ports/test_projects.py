from tests.adapters.ports.test_projects import *  # noqa: F403  the very same tests

from tests.adapters.ports.test_budgets import *  # noqa: F403  the very same tests

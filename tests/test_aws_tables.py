"""The tables of template.yaml keep what is in them, and tests make theirs from it."""

import pytest

from tests.support.aws_tables import TABLE, properties, template

TABLES = properties(TABLE)
EXPIRING = {f"{each}Table" for each in "Answers Authorizations Budgets Cache Calls Jobs Leases".split()}
FOR_A_WHILE = ("BudgetsTable", "CacheTable")


def test_there_is_one_table_for_each_port():
    ports = {"Documents", "Checkpoints", "Jobs", "Leases", "Audit", "Pace", "Projects", "ProjectDocuments", "Cache"}
    ports |= {"Graph", "Answers", "Calls", "Authorizations", "Budgets", "News", "Screenings"}
    assert set(TABLES) == {f"{port}Table" for port in ports}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_paid_by_request_and_encrypted_and_forgets_only_what_expires(name):
    assert TABLES[name]["BillingMode"] == "PAY_PER_REQUEST"
    assert TABLES[name]["SSESpecification"] == {"SSEEnabled": True}
    assert ("TimeToLiveSpecification" in TABLES[name]) == (name in EXPIRING)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_recoverable_and_protected_unless_it_is_kept_for_a_while_alone(name):
    table, resource = TABLES[name], template()["Resources"][name]
    policies = resource["DeletionPolicy"], resource["UpdateReplacePolicy"]
    if name in FOR_A_WHILE:
        assert policies == ("Delete", "Delete")
    else:
        assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
        assert table["DeletionProtectionEnabled"] is True
        assert policies == ("RetainExceptOnCreate", "Retain")

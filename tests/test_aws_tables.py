"""The tables of template.yaml keep what is in them, and tests make theirs from it."""

import pytest

from tests.support.aws_tables import TABLE, properties, template

TABLES = properties(TABLE)
EXPIRING = {
    "AnswersTable",
    "AuthorizationsTable",
    "BudgetsTable",
    "CacheTable",
    "CallsTable",
    "JobsTable",
    "LeasesTable",
}
FOR_A_WHILE = ("BudgetsTable", "CacheTable")
KEPT = set(TABLES) - set(FOR_A_WHILE)


def test_there_is_one_table_for_each_port():
    ports = {"Documents", "Checkpoints", "Jobs", "Leases", "Audit", "Pace", "Projects", "ProjectDocuments", "Cache"}
    ports |= {"Graph", "Answers", "Calls", "Authorizations", "Budgets", "News", "Screenings"}
    assert set(TABLES) == {f"{port}Table" for port in ports}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_paid_by_request_and_encrypted(name):
    assert TABLES[name]["BillingMode"] == "PAY_PER_REQUEST"
    assert TABLES[name]["SSESpecification"] == {"SSEEnabled": True}


@pytest.mark.parametrize("name", sorted(KEPT))
def test_a_table_is_recoverable_and_protected(name):
    table = TABLES[name]
    assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert table["DeletionProtectionEnabled"] is True
    resource = template()["Resources"][name]
    assert (resource["DeletionPolicy"], resource["UpdateReplacePolicy"]) == ("RetainExceptOnCreate", "Retain")


@pytest.mark.parametrize("name", FOR_A_WHILE)
def test_what_is_only_kept_for_a_while_goes_with_the_stack(name):
    resource = template()["Resources"][name]
    assert (resource["DeletionPolicy"], resource["UpdateReplacePolicy"]) == ("Delete", "Delete")


@pytest.mark.parametrize("name", TABLES)
def test_only_what_expires_is_forgotten(name):
    assert ("TimeToLiveSpecification" in TABLES[name]) == (name in EXPIRING)

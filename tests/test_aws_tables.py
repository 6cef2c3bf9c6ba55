"""The tables of template.yaml keep what is in them, and tests make theirs from it."""

import pytest

from tests.aws_tables import TABLE, properties, template

TABLES = properties(TABLE)
EXPIRING = {"JobsTable", "LeasesTable"}


def test_there_is_one_table_for_each_port():
    ports = ("Documents", "Checkpoints", "Jobs", "Leases", "Audit", "Pace", "Projects")
    assert set(TABLES) == {f"{port}Table" for port in ports}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_paid_by_request_encrypted_recoverable_and_protected(name):
    table = TABLES[name]
    assert table["BillingMode"] == "PAY_PER_REQUEST"
    assert table["SSESpecification"] == {"SSEEnabled": True}
    assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert table["DeletionProtectionEnabled"] is True
    resource = template()["Resources"][name]
    assert (resource["DeletionPolicy"], resource["UpdateReplacePolicy"]) == ("RetainExceptOnCreate", "Retain")


@pytest.mark.parametrize("name", TABLES)
def test_only_what_expires_is_forgotten(name):
    assert ("TimeToLiveSpecification" in TABLES[name]) == (name in EXPIRING)

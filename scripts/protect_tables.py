"""Protects the tables of a stack that stands against deletion: the last step of `make deploy`.

The template does not protect them. A first deployment that fails deletes what it made, and a table that is protected
by then would stay behind.
"""

import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import boto3

SAMCONFIG = Path(__file__).parents[1] / "samconfig.toml"


def protect(cloudformation: Any, dynamodb: Any, stack: str) -> list[str]:
    """The names of the tables of `stack` that a deletion of the stack retains, which now are all protected."""
    pages = cloudformation.get_paginator("list_stack_resources").paginate(StackName=stack)
    listed = [each for page in pages for each in page["StackResourceSummaries"]]
    made = {each["LogicalResourceId"]: each["PhysicalResourceId"] for each in listed if _is_table(each)}
    if not made:
        return []
    template = cloudformation.get_template(StackName=stack, TemplateStage="Processed")["TemplateBody"]
    policies = {name: each.get("DeletionPolicy", "Delete") for name, each in template["Resources"].items()}
    tables = [table for name, table in sorted(made.items()) if policies[name] != "Delete"]
    for table in tables:
        if not dynamodb.describe_table(TableName=table)["Table"].get("DeletionProtectionEnabled"):
            dynamodb.update_table(TableName=table, DeletionProtectionEnabled=True)
    return tables


def _is_table(resource: Mapping[str, str]) -> bool:
    kind, status = resource["ResourceType"], resource["ResourceStatus"]
    return kind == "AWS::DynamoDB::Table" and not status.startswith("DELETE")


def main() -> None:
    config = tomllib.loads(SAMCONFIG.read_text())[sys.argv[1]]
    given = {**config["global"]["parameters"], **config["deploy"]["parameters"]}
    session = boto3.Session(region_name=given.get("region"), profile_name=given.get("profile"))
    tables = protect(session.client("cloudformation"), session.client("dynamodb"), given["stack_name"])
    print(f"{len(tables)} tables of {given['stack_name']} are protected against deletion.")


if __name__ == "__main__":
    main()

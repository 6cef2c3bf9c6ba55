"""Projects, in a DynamoDB table."""

from typing import TYPE_CHECKING

from bio_mcp.adapters.aws.dynamodb import Item
from bio_mcp.adapters.aws.failures import reaching
from bio_mcp.ports.projects import Project
from bio_mcp.retrieval.project_names import unknown_project

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

WHAT = "projects"


class DynamoProjects:
    """The port `Projects` over one table (key: project_id). Listing scans it: its items are few and small."""

    def __init__(self, client: "DynamoDBClient", table: str) -> None:
        self._client = client
        self._table = table

    def get(self, project_id: str) -> Project:
        with reaching(WHAT):
            item = self._client.get_item(
                TableName=self._table, Key={"project_id": {"S": project_id}}, ConsistentRead=True
            ).get("Item")
        if item is None:
            raise unknown_project(project_id, (each.project_id for each in self.all()))
        return _project(item)

    def put(self, project: Project) -> None:
        with reaching(WHAT):
            self._client.put_item(
                TableName=self._table,
                Item={
                    "project_id": {"S": project.project_id},
                    "collection": {"S": project.collection},
                    "embed_model": {"S": project.embed_model},
                    "hybrid_enabled": {"BOOL": project.hybrid_enabled},
                    "references": {"S": project.references} if project.references is not None else {"NULL": True},
                    "top_k": {"N": str(project.top_k)},
                    "max_characters": {"N": str(project.max_characters)},
                },
            )

    def all(self) -> list[Project]:
        with reaching(WHAT):
            pages = self._client.get_paginator("scan").paginate(TableName=self._table, ConsistentRead=True)
            found = [_project(item) for page in pages for item in page["Items"]]
        return sorted(found, key=lambda project: project.project_id)

    def delete(self, project_id: str) -> bool:
        with reaching(WHAT):
            deleted = self._client.delete_item(
                TableName=self._table, Key={"project_id": {"S": project_id}}, ReturnValues="ALL_OLD"
            )
        return "Attributes" in deleted


def _project(item: Item) -> Project:
    return Project(
        item["project_id"]["S"],
        item["collection"]["S"],
        item["embed_model"]["S"],
        item["hybrid_enabled"]["BOOL"],
        item["references"].get("S"),
        int(item["top_k"]["N"]),
        int(item["max_characters"]["N"]),
    )

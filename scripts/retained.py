"""What a stack has, or has left, and a deployment takes, where its parameters leave that open.

CloudFormation retains the papers' table and the OpenSearch domain when they leave a stack, and never takes them up
again: a domain of the same name cannot be made, and a table is made anew, empty. So `make deploy` names the domain that
the stack has, which another name would replace, and gives what the stack has left and comes back to.
"""

from collections.abc import Callable, Mapping
from typing import Any

from botocore.exceptions import ClientError

Connect = Callable[[str], Any]
"""The name of a service -> its client."""
ROLE = "SearchRole"  # of the stack; the domains that it made let it in, until another RolePath makes another role


class Refused(Exception):
    """The deployment would fail, or use what is another's; says what to change."""


def parameters(given: Mapping[str, str], stack: str, connect: Connect) -> dict[str, str]:
    """The parameters that keep what the stack has and take up what it left; none for a stack that is not there yet.

    `given` has the value of each parameter of the template. Raises `Refused`.
    """
    return _table(given, stack, connect) | _domain(given, stack, connect)


def _table(given: Mapping[str, str], stack: str, connect: Connect) -> dict[str, str]:
    if given["DocumentsTableName"] or not _has(stack, ROLE, connect) or _has(stack, "DocumentsTable", connect):
        return {}
    pages = connect("dynamodb").get_paginator("list_tables").paginate()
    names = [name for page in pages for name in page["TableNames"] if name.startswith(f"{stack}-DocumentsTable-")]
    if len(names) > 1:
        raise Refused(f"The papers may be in {', '.join(names)}: choose by DocumentsTableName.")
    return {"DocumentsTableName": names[0]} if names else {}


def _domain(given: Mapping[str, str], stack: str, connect: Connect) -> dict[str, str]:
    if given["IndexTier"] != "opensearch" or given["OpenSearchUrl"]:
        return {}
    has, wanted = _has(stack, "SearchDomain", connect), given["OpenSearchDomainName"]
    if has and wanted in ("", has):
        return {"OpenSearchDomainName": has}
    role, there = _resource(stack, ROLE, connect), {each["DomainName"]: each for each in _domains(connect)}
    left = [name for name, each in there.items() if _made(each, role)]
    if wanted in there and wanted not in left:
        raise Refused(
            f"The domain {wanted} is there and was not made by the stack {stack}. Give another OpenSearchDomainName, "
            "or that domain's OpenSearchUrl and OpenSearchArn."
        )
    names = [name for name in left if wanted in ("", name)]
    if len(names) > 1:
        raise Refused(f"The stack {stack} has left the domains {', '.join(names)}: choose by OpenSearchDomainName.")
    return _address(there[names[0]]) if names else {}


def _made(domain: Mapping[str, Any], role: Mapping[str, str]) -> bool:
    """Whether the stack that has the role made the domain: it lets the role in, or its name is of the stack's id."""
    if not role:
        return False
    own = f"bio-mcp-{role['StackId'].rpartition('/')[2].partition('-')[0]}"
    return domain["DomainName"] == own or f"/{role['PhysicalResourceId']}" in domain.get("AccessPolicies", "")


def _has(stack: str, logical_id: str, connect: Connect) -> str:
    """The physical id of a resource that the stack has; empty where there is none, or no stack."""
    return _resource(stack, logical_id, connect).get("PhysicalResourceId", "")


def _resource(stack: str, logical_id: str, connect: Connect) -> Mapping[str, str]:
    """What CloudFormation says of a resource that the stack has; nothing where there is none, or no stack."""
    try:
        asked = connect("cloudformation").describe_stack_resource(StackName=stack, LogicalResourceId=logical_id)
    except ClientError as error:
        if error.response["Error"]["Code"] != "ValidationError":
            raise
        return {}
    found: Mapping[str, str] = asked["StackResourceDetail"]
    return {} if found["ResourceStatus"] in ("DELETE_COMPLETE", "DELETE_SKIPPED") else found


def _domains(connect: Connect) -> list[dict[str, Any]]:
    """What the account has in this region, but those that are being deleted; five are described at a time."""
    client = connect("opensearch")
    names = [each["DomainName"] for each in client.list_domain_names()["DomainNames"]]
    parts = [names[start : start + 5] for start in range(0, len(names), 5)]
    found = [each for part in parts for each in client.describe_domains(DomainNames=part)["DomainStatusList"]]
    return [each for each in found if not each.get("Deleted")]


def _address(domain: Mapping[str, Any]) -> dict[str, str]:
    endpoint = domain.get("Endpoint") or domain.get("Endpoints", {}).get("vpc")
    if not endpoint:
        raise Refused(f"The domain {domain['DomainName']} has no address yet: deploy again in some minutes.")
    return {"OpenSearchUrl": f"https://{endpoint}", "OpenSearchArn": domain["ARN"], "OpenSearchService": "es"}

"""Which OpenSearch domain a deployment uses, where its parameters leave that open.

CloudFormation replaces a domain whose name changes, and never takes up one that it retained: creating one of the same
name fails. So `make deploy` names the domain that the stack has, and gives the address of one that the stack left, when
it moved to S3, to another endpoint or to a domain of another name, and comes back.
"""

from collections.abc import Callable, Mapping
from typing import Any

from botocore.exceptions import ClientError

Connect = Callable[[str], Any]
"""The name of a service -> its client."""
ROLE = "SearchRole"  # of the stack; the domains that it made let it in


class Refused(Exception):
    """The deployment would fail, or use what is another's; says what to change."""


def parameters(given: Mapping[str, str], stack: str, connect: Connect) -> dict[str, str]:
    """The parameters that keep the domain of the stack, or take up one that it left; none where neither is so.

    `given` has the value of each parameter of the template. Raises `Refused`.
    """
    if given["IndexTier"] != "opensearch" or given["OpenSearchUrl"]:
        return {}
    has = _resources(stack, connect)
    wanted = given["OpenSearchDomainName"]
    if "SearchDomain" in has and wanted in ("", has["SearchDomain"]):
        return {"OpenSearchDomainName": has["SearchDomain"]}
    there = {each["DomainName"]: each for each in _domains(connect)}
    left = [name for name, each in there.items() if ROLE in has and f"/{has[ROLE]}" in each.get("AccessPolicies", "")]
    if wanted and wanted in there and wanted not in left:
        raise Refused(
            f"The domain {wanted} is there and was not made by the stack {stack}. Give another OpenSearchDomainName, "
            "or that domain's OpenSearchUrl and OpenSearchArn."
        )
    names = [wanted] if wanted else left
    if len(names) > 1:
        raise Refused(f"The stack {stack} has left the domains {', '.join(names)}: choose by OpenSearchDomainName.")
    return _address(there[names[0]]) if names and names[0] in left else {}


def _resources(stack: str, connect: Connect) -> dict[str, str]:
    """Logical id -> physical id of the domain and the role that the stack has; empty where there is no stack."""
    found = {}
    for logical_id in (ROLE, "SearchDomain"):
        try:
            asked = connect("cloudformation").describe_stack_resource(StackName=stack, LogicalResourceId=logical_id)
        except ClientError as error:
            if error.response["Error"]["Code"] != "ValidationError":
                raise
            continue
        found[logical_id] = str(asked["StackResourceDetail"]["PhysicalResourceId"])
    return found


def _domains(connect: Connect) -> list[dict[str, Any]]:
    """What the account has in this region, but those that are being deleted; asked five at a time, as AWS wants it."""
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

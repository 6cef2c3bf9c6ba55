"""What template.yaml says, in the words of the tests: functions, permissions, events, alarms.

A value that a function of CloudFormation makes is read as text: `DocumentsTable.Arn` for a GetAtt, `${Api}/*` for a
Sub, both branches for an If.
"""

import re
from collections.abc import Iterator
from typing import Any

from bio_mcp.catalog import MODULES
from tests.support.aws_tables import template

FUNCTION, LAYER = "AWS::Serverless::Function", "AWS::Serverless::LayerVersion"
ROLE, ALARM = "AWS::IAM::Role", "AWS::CloudWatch::Alarm"
TEMPLATE = template()
RESOURCES: dict[str, dict[str, Any]] = TEMPLATE["Resources"]
Allowed = set[tuple[str, str]]  # action, resource
GIVEN_TABLE = re.compile(r"arn:.*:table/\$\{(\w+Table)Name\}")  # in place of the one that the stack makes


def of(kind: str) -> dict[str, dict[str, Any]]:
    """Logical id -> properties of each resource of this type."""
    return {name: each["Properties"] for name, each in RESOURCES.items() if each["Type"] == kind}


def directory(function: dict[str, Any]) -> str:
    """`search` of `functions/search`."""
    parent, _, name = str(function["CodeUri"]).partition("/")
    assert parent == "functions"
    return name


FUNCTIONS = {directory(each): (name, each) for name, each in of(FUNCTION).items()}
SERVING = [each.__name__.rpartition(".")[2] for each in MODULES]  # the functions that serve tools
IMAGES = of("AWS::Lambda::Function")  # logical id -> properties of what may stand in place of a function of layers


def text(value: Any) -> str:
    """A value, as text that names what it is made of."""
    match value:
        case {"Fn::GetAtt": name} | {"Ref": name}:
            return str(name)
        case {"Fn::Sub": [template, given]}:
            return f"{template} {given}"
        case {"Fn::Sub": template}:
            return str(template)
    return str(value)


COMPUTED: dict[str, Any] = {
    "Fn::Join": lambda by, parts: by.join(parts),
    "Fn::Split": lambda by, whole: whole.split(by),
    "Fn::Select": lambda index, several: several[int(index)],
    "Fn::Equals": lambda one, other: one == other,
    "Fn::Not": lambda one: not one,
    "Fn::And": lambda *several: all(several),
    "Fn::Or": lambda *several: any(several),
}


def rendered(value: Any, given: dict[str, str]) -> Any:
    """A value as CloudFormation makes it of these parameters, pseudo parameters and names of resources."""
    if isinstance(value, list):
        return [rendered(each, given) for each in value]
    match value:
        case {"Ref": name}:
            return given[name]
        case {"Condition": str(name)}:
            return rendered(TEMPLATE["Conditions"][name], given)
        case {"Fn::If": [name, yes, no]}:
            return rendered(yes if rendered({"Condition": name}, given) else no, given)
        case {"Fn::Sub": [template, more]}:
            return rendered({"Fn::Sub": template}, given | {name: rendered(each, given) for name, each in more.items()})
        case {"Fn::Sub": template}:
            return re.sub(r"\$\{([\w:]+)\}", lambda found: given[found[1]], template)
    if isinstance(value, dict) and len(value) == 1 and (function := COMPUTED.get(next(iter(value)))):
        return function(*rendered(next(iter(value.values())), given))
    return {name: rendered(each, given) for name, each in value.items()} if isinstance(value, dict) else value


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def branches(value: Any) -> Iterator[Any]:
    """`value`, or what an If may make of it; without NoValue."""
    if isinstance(value, dict) and "Fn::If" in value:
        for each in value["Fn::If"][1:]:
            yield from branches(each)
    elif value != {"Ref": "AWS::NoValue"}:
        yield value


def statements(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for each in document["Statement"]:
        yield from branches(each)


def _named(resource: Any) -> str:
    """As `scripts.port_grants` has it: a table or a domain that the stack makes is told from a given one by no test."""
    match resource:
        case {"Fn::Sub": [path, {"Domain": _}]}:
            return path.replace("${Domain}", "${OpenSearchArn}")
    return GIVEN_TABLE.sub(r"\1.Arn", text(resource))


def allowed_by(documents: Iterator[dict[str, Any]]) -> Allowed:
    """Each action on each resource that is allowed."""
    return {
        (action, _named(one))
        for document in documents
        for each in statements(document)
        if each["Effect"] == "Allow"
        for action in listed(each["Action"])
        for resource in listed(each["Resource"])
        for one in branches(resource)
    }


def documents_of(role: dict[str, Any], resources: dict[str, Any] = RESOURCES) -> Iterator[dict[str, Any]]:
    """The policies of a role, its own and those that it shares: but those on all resources, and of the key."""
    for policy in role.get("Policies", []):
        yield policy["PolicyDocument"]
    for policy in role.get("ManagedPolicyArns", []):
        for each in branches(policy):
            if each["Ref"] not in ("FunctionPolicy", "LoadLogPolicy", "KeyPolicy"):
                yield resources[each["Ref"]]["Properties"]["PolicyDocument"]


def allowed(function: str) -> Allowed:
    """What the role of `function` may do, whatever the parameters are."""
    _, properties = FUNCTIONS[function]
    role, attribute = properties["Role"]["Fn::GetAtt"].split(".")
    assert attribute == "Arn"
    return allowed_by(documents_of(RESOURCES[role]["Properties"]))


def variables(function: str) -> dict[str, Any]:
    """The environment of `function`."""
    everyones: dict[str, Any] = TEMPLATE["Globals"]["Function"]["Environment"]["Variables"]
    return {**everyones, **FUNCTIONS[function][1].get("Environment", {}).get("Variables", {})}


def timeout_ms(function: str) -> int:
    return int(FUNCTIONS[function][1]["Timeout"]) * 1000

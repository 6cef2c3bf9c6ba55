"""Who may use the passage index: the roles that the domain lets in, and those that a collection must be told of."""

from collections.abc import Iterable

from scripts.port_grants import DOMAIN
from scripts.template.blocks import Tagged, Value
from scripts.template.functions import Function
from scripts.template.policies import on_index, when

ARN = "arn:${AWS::Partition}:es:${AWS::Region}:${AWS::AccountId}:domain/${Name}"
OWN = '!Sub ["bio-mcp-${Own}", { Own: !Select [0, !Split ["-", !Select [2, !Split ["/", !Ref AWS::StackId]]]] }]'
NAME = when("NamesDomain", "!Ref OpenSearchDomainName", OWN)


def let_in(functions: Iterable[Function]) -> list[Value]:
    """The statements of the domain for the role of each function that uses it."""
    return [
        when(str(each.only["Condition"]), statement) if each.only else statement
        for each in functions
        for statement in _statements(each)
    ]


def _statements(function: Function) -> list[Value]:
    principal = {"Effect": "Allow", "Principal": f"{{ AWS: !GetAtt {function.id}Role.Arn }}"}
    return [principal | {**each} for each in on_index(function.grants, "es", _of_domain) if isinstance(each, dict)]


def _of_domain(path: str) -> Value:
    """A path of the given domain as one of the domain that the template makes."""
    return Tagged("!Sub", [f'"{path.replace(DOMAIN, ARN)}"', {"Name": NAME}])


def roles(functions: Iterable[Function]) -> dict[str, Value]:
    """An output for each of those roles."""
    return {f"{each.id}RoleArn": _output(each) for each in functions if _methods(each)}


def _output(function: Function) -> Value:
    verb = "reads" if _methods(function) == {"es:ESHttpGet"} else "writes"
    told = f"Role that {verb} the index; a Serverless collection's data access policy must name it"
    return {**function.only, "Description": told, "Value": f"!GetAtt {function.id}Role.Arn"}


def _methods(function: Function) -> set[str]:
    """The actions on the index that the function may take."""
    return {action for action, _ in function.grants if action.startswith("es:")}

"""Who may use the passage index: the roles that the domain lets in, and those that a collection must be told of."""

from collections.abc import Iterable

from scripts.port_grants import INDEX
from scripts.template.blocks import Tagged, Value
from scripts.template.functions import Function
from scripts.template.policies import allow, when

ARN = '"arn:${AWS::Partition}:es:${AWS::Region}:${AWS::AccountId}:domain/${Name}/${OpenSearchIndex}*"'
OWN = '!Sub ["bio-mcp-${Own}", { Own: !Select [4, !Split ["-", !Select [2, !Split ["/", !Ref AWS::StackId]]]] }]'
NAME = when("NamesDomain", "!Ref OpenSearchDomainName", OWN)


def methods(function: Function) -> list[str]:
    """The actions on the index that the function may take."""
    return sorted(action for action, resource in function.grants if resource == INDEX)


def let_in(functions: Iterable[Function]) -> list[Value]:
    """A statement of the domain for the role of each function that uses it."""
    return [_statement(each) for each in functions if methods(each)]


def _statement(function: Function) -> Value:
    principal = f"{{ AWS: !GetAtt {function.id}Role.Arn }}"
    return {
        "Effect": "Allow",
        "Principal": principal,
        **allow(methods(function), Tagged("!Sub", [ARN, {"Name": NAME}])),
    }


def roles(functions: Iterable[Function]) -> dict[str, Value]:
    """An output for each of those roles."""
    return {f"{each.id}RoleArn": _output(each) for each in functions if methods(each)}


def _output(function: Function) -> Value:
    verb = "reads" if methods(function) == ["es:ESHttpGet"] else "writes"
    told = f"Role that {verb} the index; a Serverless collection's data access policy must name it"
    return {"Description": told, "Value": f"!GetAtt {function.id}Role.Arn"}

"""Who may use the passage index: the policies that roles share for it, and the roles that a collection must name."""

from collections.abc import Iterable

from scripts.port_grants import COLLECTIONS, DOMAIN, INDEX, PUBLISHED, Grant, in_s3, published
from scripts.port_grants import index as on_domain
from scripts.template.blocks import Tagged, Value
from scripts.template.functions import Function
from scripts.template.loops import loop
from scripts.template.policies import allowed, managed, on_index, when

ARN = "arn:${AWS::Partition}:es:${AWS::Region}:${AWS::AccountId}:domain/${Name}"
OWN = '!Sub ["bio-mcp-${Own}", { Own: !Select [0, !Split ["-", !Select [2, !Split ["/", !Ref AWS::StackId]]]] }]'
NAME = f"!If [NamesDomain, !Ref OpenSearchDomainName, {OWN}]"
MADE_OR_GIVEN = f'!If [MakesIndex, !Sub ["{ARN}", {{ Name: {NAME} }}], !Ref OpenSearchArn]'
CORPUS, PROJECTS = ("Corpus", "corpus*", INDEX), ("Projects", "projects", COLLECTIONS)  # and where S3 has them
READ, WRITTEN, REBUILT = ("Get",), ("Get", "Post"), ("Delete", "Get", "Post", "Put")
POLICIES = {  # logical id -> whose indices, methods of HTTP, what for
    "CorpusReaderPolicy": (CORPUS, READ, "Search the corpus"),
    "CorpusWriterPolicy": (CORPUS, ("Get", "Post", "Put"), "Write the index of the corpus"),
    "ProjectsReaderPolicy": (PROJECTS, READ, "Search projects"),
    "ProjectsWriterPolicy": (PROJECTS, WRITTEN, "Write indices of projects"),
    "ProjectsRebuilderPolicy": (PROJECTS, REBUILT, "Make, write and delete indices of projects"),
}


def policies() -> dict[str, Value]:
    """The policies, by logical id: on a domain, on a collection, or on an index in S3."""
    return {name: managed(told, _statements(name), "GrantsIndex") for name, (_, _, told) in POLICIES.items()}


def used(function: Function) -> list[str]:
    """The policies of those that a function needs. Raises `LookupError` where none has just these methods."""
    found = []
    for whose in (CORPUS, PROJECTS):
        methods = tuple(sorted(act.removeprefix("es:ESHttp") for act, path in function.grants if path == whose[2][0]))
        if methods:
            found += [name for name, (of, may, _) in POLICIES.items() if (of, may) == (whose, methods)] or [""]
    if "" in found:
        raise LookupError(f"{function.name}: no policy in scripts/template/index.py has these methods of the index")
    return found


def _statements(name: str) -> list[Value]:
    (_, folder, paths), methods, _ = POLICIES[name]
    grants = on_domain(*methods, of=paths)
    in_bucket: Iterable[Grant] = published(folder, writes="Post" in methods)
    return [
        *(when("IndexInDomain", each) for each in on_index(grants, "es", _of_domain)),
        *(when("GivenCollection", each) for each in on_index(grants, "aoss")),
        *(when("IndexInS3", each) for each in allowed(filter(in_s3, in_bucket), ("dynamodb", "s3"), [PUBLISHED])),
    ]


def _of_domain(path: str) -> Value:
    """A path of the given domain as one of that domain, or of the one that the template makes.

    By its name and not by the resource: then roles and domain wait for each other in neither direction.
    """
    return Tagged("!Sub", [f'"{path.replace(DOMAIN, "${Domain}")}"', {"Domain": MADE_OR_GIVEN}])


def roles(functions: Iterable[Function]) -> dict[str, Value]:
    """An output for each of those roles."""
    using = [each for each in functions if _methods(each)]
    made = {f"{each.id}RoleArn": each.only | _output(f"!GetAtt {each.id}Role.Arn") for each in using if each.only}
    every = _output('{ Fn::GetAtt: [!Sub "${Id}Role", Arn] }')
    return loop("RolesOfIndex", [each.id for each in using if not each.only], {"${Id}RoleArn": every}) | made


def _output(arn: str) -> dict[str, Value]:
    told = "Role that uses the index; a Serverless collection's data access policy must name it"
    return {"Description": told, "Value": arn}


def _methods(function: Function) -> set[str]:
    """The actions on the index that the function may take."""
    return {action for action, _ in function.grants if action.startswith("es:")}

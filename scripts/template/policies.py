"""The policies of a function's role: its log, and what its tools and its declaration take."""

from collections.abc import Callable, Iterable, Sequence

from scripts.port_grants import MODEL_BEHIND, PROFILE, PUBLISHED, Grant, in_s3
from scripts.template.blocks import Tagged, Value, listed
from scripts.template.functions import Function

INBOX = "inbox"
NO_VALUE = "!Ref AWS::NoValue"
POLICIES = {"stores": ("dynamodb", "s3"), "work": ("sqs", "events")}  # name -> services
INDEX = {"GivenDomain": "es", "GivenCollection": "aoss"}  # what the stack was given -> service
TABLE = '!Sub "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${DocumentsTableName}"'
GIVEN = {"DocumentsTable.Arn": f"!If [MakesDocuments, !GetAtt DocumentsTable.Arn, {TABLE}]"}  # what may be another's
BY_NAME = "arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:${AWS::StackName}-%s"
"""Of a function that is called by one whose role the index lets in: the functions wait for the index themselves."""
SECRET = "arn:${AWS::Partition}:%s:${AWS::Region}:${AWS::AccountId}:%s"  # noqa: S105  # service, resource


def policies(function: Function, callees: Sequence[Function]) -> list[Value]:
    """Each policy of its role; `callees` are the functions that serve tools."""
    grants = function.grants
    made = [policy("log", [allow(["logs:CreateLogStream", "logs:PutLogEvents"], f"!GetAtt {function.id}Logs.Arn")])]
    listed_folder = str(function.declared.get("lists", INBOX))
    always = [each for each in grants if not in_s3(each)]
    found = {name: allowed(always, services, listed_folder) for name, services in POLICIES.items()}
    made += [policy(name, each) for name, each in found.items() if each]
    if called := function.called(callees):
        arns = [each.arn if function.is_endpoint else spelt(BY_NAME % each.name) for each in called]
        made.append(policy("invoke", [allow(["lambda:InvokeFunction"], listed(arns))]))
    made += [_reading(*each) for each in function.secrets]
    model = allowed(grants, ("bedrock",))
    made += [when("AsksBedrock", policy("model", model))] if model else []
    index = {condition: on_index(grants, service) for condition, service in INDEX.items()}
    index["IndexInS3"] = allowed(filter(in_s3, grants), POLICIES["stores"], PUBLISHED)
    return [*made, *(when(condition, policy("index", found)) for condition, found in index.items() if found)]


def policy(name: str, statements: Sequence[Value]) -> Value:
    """A policy that stands in a role."""
    return {"PolicyName": name, "PolicyDocument": {"Version": '"2012-10-17"', "Statement": statements}}


def allow(actions: Sequence[str], resource: Value) -> dict[str, Value]:
    """A statement."""
    return {"Effect": "Allow", "Action": listed(actions), "Resource": resource}


def allowed(grants: Iterable[Grant], services: Sequence[str], folder: str = INBOX) -> list[Value]:
    """A statement for each resource of these services that the grants name; of a bucket `folder` alone is listed."""
    grants = list(grants)
    by_resource: dict[str, list[str]] = {}
    for service in services:
        for action, resource in sorted(each for each in grants if each[0].startswith(f"{service}:")):
            by_resource.setdefault(resource, []).append(action)
    return [
        allow(actions, spelt(resource)) | _only_where(actions, resource, folder)
        for resource, actions in by_resource.items()
    ]


def _only_where(actions: Sequence[str], resource: str, folder: str) -> dict[str, Value]:
    """Listing shows a folder and nothing else of the bucket; a model is behind the inference profile that is named."""
    if resource == MODEL_BEHIND:
        return {"Condition": {"StringEquals": {"bedrock:InferenceProfileArn": spelt(PROFILE)}}}
    return {"Condition": f"{{ StringLike: {{ s3:prefix: {folder}/* }} }}"} if "s3:ListBucket" in actions else {}


def on_index(grants: Iterable[Grant], service: str, spell: Callable[[str], Value] | None = None) -> list[Value]:
    """A statement for each set of actions on OpenSearch, with all the paths that they are allowed on."""
    by_path: dict[str, list[str]] = {}
    for action, path in sorted(each for each in grants if each[0].startswith(f"{service}:")):
        by_path.setdefault(path, []).append(action)
    by_actions: dict[tuple[str, ...], list[Value]] = {}
    for path, actions in sorted(by_path.items()):
        by_actions.setdefault(tuple(actions), []).append((spell or spelt)(path))
    return [allow(actions, paths if len(paths) > 1 else paths[0]) for actions, paths in by_actions.items()]


def when(condition: str, value: Value, otherwise: Value = NO_VALUE) -> Tagged:
    """One of two, by a condition of the template."""
    return Tagged("!If", [condition, value, otherwise])


def spelt(resource: str) -> str:
    """A grant's resource as YAML."""
    if resource in GIVEN:
        return GIVEN[resource]
    if "${" in resource:
        return f'!Sub "{resource}"'
    return f"!GetAtt {resource}" if "." in resource else f"!Ref {resource}"


def _reading(condition: str, parameter: str) -> Tagged:
    """Reading the secret that a parameter names, where it is kept; a name in Parameter Store may begin with a slash."""
    named = f"${{{parameter}}}"
    paths = [spelt(SECRET % ("ssm", f"parameter{slash}{named}")) for slash in ("/", "")]
    in_ssm: Value = {"Effect": "Allow", "Action": "ssm:GetParameter", "Resource": paths}
    elsewhere = allow(["secretsmanager:GetSecretValue"], spelt(SECRET % ("secretsmanager", f"secret:{named}-??????")))
    decrypting = when("HasOwnKmsKey", allow(["kms:Decrypt"], "!Ref SecretKmsKeyArn"))
    return when(condition, policy("secret", [when("InParameterStore", in_ssm, elsewhere), decrypting]))

"""What a function's role may do: its own policy, by its tools and its declaration, and those of secrets."""

from collections.abc import Callable, Iterable, Sequence

from scripts.port_grants import MODEL_BEHIND, PROFILE, Grant, in_s3
from scripts.template.blocks import Tagged, Value, listed
from scripts.template.functions import SECRETS, Function

INBOX, LISTING = ("inbox",), "s3:ListBucket"
NO_VALUE = "!Ref AWS::NoValue"
PATH = f"!If [HasRolePath, !Ref RolePath, {NO_VALUE}]"
BOUNDARY = f"!If [HasBoundary, !Ref PermissionsBoundaryArn, {NO_VALUE}]"
SERVICES = ("dynamodb", "s3", "sqs", "events")
ENCRYPTED = ("dynamodb", "s3", "sqs")  # by the key of the organisation, where there is one
TABLE = '!Sub "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${DocumentsTableName}"'
GIVEN = {"DocumentsTable.Arn": f"!If [MakesDocuments, !GetAtt DocumentsTable.Arn, {TABLE}]"}  # what may be another's
SECRET = "arn:${AWS::Partition}:%s:${AWS::Region}:${AWS::AccountId}:%s"  # noqa: S105  # service, resource


def own(function: Function, callees: Sequence[Function]) -> Value:
    """The policy that no other role has; `callees` are the functions that serve tools."""
    always = [each for each in function.grants if not in_s3(each)]
    statements: list[Value] = [allow(["logs:CreateLogStream", "logs:PutLogEvents"], f"!GetAtt {function.id}Logs.Arn")]
    statements += allowed(always, SERVICES, function.declared.get("lists", INBOX))
    if called := function.called(callees):
        statements.append(allow(["lambda:InvokeFunction"], listed([each.arn for each in called])))
    statements += [when("AsksBedrock", each) for each in allowed(function.grants, ("bedrock",))]
    return {"PolicyName": "function", "PolicyDocument": document(statements)}


def shared(function: Function) -> list[Value]:
    """Those of its policies that other roles have too: of secrets, and of the key that its stores are encrypted by."""
    found = [f"!If [{condition}, !Ref {secret_policy(name)}, {NO_VALUE}]" for condition, name in function.secrets]
    stores = {action.partition(":")[0] for action, _ in function.grants} & set(ENCRYPTED)
    return [*found, *([f"!If [HasKey, !Ref KeyPolicy, {NO_VALUE}]"] if stores else [])]


def of_secrets() -> dict[str, Value]:
    """A policy for each secret, which the roles of the functions share that read it."""
    return {
        secret_policy(parameter): managed(f"Read the secret that {parameter} names", _reading(parameter), condition)
        for condition, parameter in SECRETS.values()
    }


def secret_policy(parameter: str) -> str:
    """The logical id of the policy of the secret that a parameter names."""
    return f"{parameter.removesuffix('Name')}Policy"


def managed(description: str, statements: Sequence[Value], condition: str) -> Value:
    """A policy that several roles have."""
    properties: Value = {"Description": description, "Path": PATH, "PolicyDocument": document(statements)}
    return {"Type": "AWS::IAM::ManagedPolicy", "Condition": condition, "Properties": properties}


def document(statements: Sequence[Value]) -> Value:
    """The document of a policy."""
    return {"Version": '"2012-10-17"', "Statement": statements}


def allow(actions: Sequence[str], resource: Value) -> dict[str, Value]:
    """A statement."""
    return {"Effect": "Allow", "Action": listed(actions), "Resource": resource}


def allowed(grants: Iterable[Grant], services: Sequence[str], folders: Sequence[str] = INBOX) -> list[Value]:
    """A statement for each set of actions of these services, with all that they are allowed on.

    Of a bucket the `folders` alone are listed.
    """
    by_resource: dict[str, list[str]] = {}
    for action, resource in sorted(grants):
        if action.partition(":")[0] in services:
            by_resource.setdefault(resource, []).append(action)
    apart = [each for each, actions in by_resource.items() if each == MODEL_BEHIND or LISTING in actions]
    by_actions: dict[tuple[str, ...], list[Value]] = {}
    for resource, actions in by_resource.items():
        if resource not in apart:
            by_actions.setdefault(tuple(actions), []).append(spelt(resource))
    together: list[Value] = [allow(actions, _one_or_all(resources)) for actions, resources in by_actions.items()]
    return together + [allow(by_resource[each], spelt(each)) | _only_where(each, folders) for each in apart]


def _only_where(resource: str, folders: Sequence[str]) -> dict[str, Value]:
    """Listing shows these folders of the bucket alone; a model is behind the inference profile that is named."""
    if resource == MODEL_BEHIND:
        return {"Condition": {"StringEquals": {"bedrock:InferenceProfileArn": spelt(PROFILE)}}}
    prefixes = listed([f"{each}/*" for each in folders])
    return {"Condition": f"{{ StringLike: {{ s3:prefix: {prefixes} }} }}"}


def _one_or_all(resources: Sequence[Value]) -> Value:
    return resources if len(resources) > 1 else resources[0]


def on_index(grants: Iterable[Grant], service: str, spell: Callable[[str], Value] | None = None) -> list[Value]:
    """A statement for each set of actions on OpenSearch, with all the paths that they are allowed on."""
    by_path: dict[str, list[str]] = {}
    for action, path in sorted(each for each in grants if each[0].startswith(f"{service}:")):
        by_path.setdefault(path, []).append(action)
    by_actions: dict[tuple[str, ...], list[Value]] = {}
    for path, actions in sorted(by_path.items()):
        by_actions.setdefault(tuple(actions), []).append((spell or spelt)(path))
    return [allow(actions, _one_or_all(paths)) for actions, paths in by_actions.items()]


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


def _reading(parameter: str) -> list[Value]:
    """Reading a secret where it is kept; a name in Parameter Store may begin with a slash."""
    named = f"${{{parameter}}}"
    paths = [spelt(SECRET % ("ssm", f"parameter{slash}{named}")) for slash in ("/", "")]
    in_ssm: Value = {"Effect": "Allow", "Action": "ssm:GetParameter", "Resource": paths}
    elsewhere = allow(["secretsmanager:GetSecretValue"], spelt(SECRET % ("secretsmanager", f"secret:{named}-??????")))
    return [
        when("InParameterStore", in_ssm, elsewhere),
        when("HasOwnKmsKey", allow(["kms:Decrypt"], "!Ref SecretKmsKeyArn")),
    ]

"""A function as a container image, in place of its code and layers where a parameter names one.

It is a function of Lambda's and none of SAM's, and its package type is not plain text: where `sam deploy` reads that a
function is an image, it demands a repository to push one to from everybody, whatever the condition. Once it has
unrolled the loops it reads that all the same, and pushes what is in no repository: without the parameter the image is
in one that there is not.
"""

from collections.abc import Collection, Mapping

from scripts.template.blocks import Value
from scripts.template.functions import Function

NOBODYS = "000000000000.dkr.ecr.us-east-1.amazonaws.com/none:1"
LOGGING = "{ LogGroup: !Ref %sLogs, LogFormat: JSON, ApplicationLogLevel: INFO, SystemLogLevel: INFO }"
VPC = "!If [InVpc, { SubnetIds: !Ref SubnetIds, SecurityGroupIds: !Ref SecurityGroupIds }, !Ref AWS::NoValue]"
EVERYONES = {  # as template.yaml's Globals
    "BIO_MCP_MODE": "aws",
    "BIO_MCP_METRICS": "!Ref AWS::StackName",
    "BIO_MCP_TRACE_CALLS": "!Ref TraceCalls",
    "AWS_ENDPOINT_URL": "!Ref EndpointUrl",
    "BIO_MCP_BUCKET": "!Ref Bucket",
    "BIO_MCP_EMBEDDING_MODEL": "!Ref EmbeddingModel",
    "NCBI_BASE_URL": "!Ref NcbiBaseUrl",
    "BIO_MCP_INDEX": "!Ref OpenSearchIndex",
    "BIO_MCP_INDEX_TIER": "!Ref IndexTier",
    "BIO_MCP_INDEX_LIMIT_MB": "!Ref IndexLimitMB",
    "BIO_MCP_CALLER_BUDGETS": "!Ref CallerBudgets",
    "BIO_MCP_TENANT_BUDGETS": "!Ref TenantBudgets",
    "BIO_MCP_ADDRESS_BUDGETS": "!Ref AddressBudgets",
    "BIO_MCP_THREADS": '"1"',
    "ORT_DISABLE_TELEMETRY": '"1"',
}


def storage(variables: Collection[str]) -> dict[str, Value]:
    """The disk of a function that has these variables: one that searches may have a copy of the index there."""
    size = "{ Size: !If [IndexInS3, !Ref IndexStorageMiB, 512] }"
    return {"EphemeralStorage": size} if "BIO_MCP_OPENSEARCH_URL" in variables else {}


def from_image(function: Function, variables: Mapping[str, Value]) -> dict[str, Value]:
    """The function and what feeds it from its queue, by logical id.

    Its name is not that of the function that it replaces: for a while there are both.
    """
    made = {f"{function.id}ImageFunction": _function(function, variables)}
    return made | {f"{function.id}ImageFunction{name}": _fed(function, each) for name, each in _events(function)}


def _function(function: Function, variables: Mapping[str, Value]) -> Value:
    properties = {name: each for name, each in function.properties.items() if name != "Events"}
    return {
        "Type": "AWS::Lambda::Function",
        "Condition": f"With{function.image}",
        "Metadata": "{ SkipBuild: true, cfn-lint: { config: { ignore_checks: [W1028] } } }",  # of nobody's image
        "Properties": {
            "FunctionName": f"!Sub ${{AWS::StackName}}-{function.names[-1]}",
            "Description": function.description,
            "PackageType": '!Join ["", [Image]]',
            "Code": f"{{ ImageUri: !If [With{function.image}, !Ref {function.image}, {NOBODYS}] }}",
            "Architectures": "[!Ref Arch]",
            "Role": f"!GetAtt {function.id}Role.Arn",
            "Timeout": str(function.timeout_s),
            "MemorySize": str(function.memory_mb),
            **storage(function.ports.variables),
            "TracingConfig": "{ Mode: Active }",
            "VpcConfig": VPC,
            "LoggingConfig": LOGGING % function.id,
            **properties,
            "Environment": {"Variables": {**EVERYONES, **variables}},
        },
    }


def _events(function: Function) -> list[tuple[str, dict[str, Value]]]:
    events = function.declared.get("properties", {}).get("Events", {})
    return [(name, each["Properties"]) for name, each in events.items()]


def _fed(function: Function, event: Mapping[str, Value]) -> Value:
    """A mapping of SAM's event `SQS`."""
    more = {name: str(each) for name, each in event.items() if name != "Queue"}
    return {
        "Type": "AWS::Lambda::EventSourceMapping",
        "Condition": f"With{function.image}",
        "Metadata": "{ cfn-lint: { config: { ignore_checks: [ES1001] } } }  # the queue itself has dead letters",
        "Properties": {
            "FunctionName": f"!Ref {function.id}ImageFunction",
            "EventSourceArn": event["Queue"],
            **more,
        },
    }

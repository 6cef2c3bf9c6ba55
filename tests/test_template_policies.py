"""Least privilege: each role of template.yaml may do what its function's tools touch the ports for, and no more."""

import ast
import re
from fnmatch import fnmatchcase as fnmatch
from pathlib import Path

import pytest

from scripts.port_grants import FOLDER, given_for, secret
from scripts.template.functions import declared
from tests.support.aws_template import (
    FUNCTIONS,
    IMAGES,
    RESOURCES,
    ROLE,
    SERVING,
    TEMPLATE,
    allowed,
    allowed_by,
    branches,
    documents_of,
    of,
    rendered,
    statements,
    text,
    variables,
)
from tests.support.touched_ports import needed

ADAPTERS = Path(__file__).parents[1] / "layers/common/bio_mcp/adapters/aws"
EVERYONES = set(TEMPLATE["Globals"]["Function"]["Environment"]["Variables"])
STACK = {
    "AWS::Partition": "aws",
    "AWS::Region": "eu-central-1",
    "AWS::AccountId": "123456789012",
    "AWS::StackId": "arn:aws:cloudformation:eu-central-1:123456789012:stack/a-b/01234567-89ab-cdef-0123-456789abcdef",
    "OpenSearchIndex": "pubmed_chunk",
}


def logs(function):
    name = FUNCTIONS[function][0].removesuffix("Function")
    return {(action, f"{name}Logs.Arn") for action in ("logs:CreateLogStream", "logs:PutLogEvents")}


def receiving(function):
    """What Lambda itself does at the queue that brings a function its events."""
    events = FUNCTIONS[function][1].get("Events", {}).values()
    actions = ("ReceiveMessage", "DeleteMessage", "GetQueueAttributes", "ChangeMessageVisibility")
    queues = [text(each["Properties"]["Queue"]) for each in events if each["Type"] == "SQS"]
    return {(f"sqs:{action}", queue) for action in actions for queue in queues}


OTHER_ROLES = {"ScheduleRole", "HeartbeatScheduleRole", "CanaryRole", "LoadMachineRole"}  # those of no function


def expected(function):
    """What a role may do: what the ports take that its function's tools touch; the endpoint only calls functions."""
    if function in SERVING:
        return needed(function).grants | receiving(function)
    own = declared(function)
    called = {f"{FUNCTIONS[each][0]}.Arn" for each in own.get("calls", [])}
    called |= {f"{name}.Arn" for name in IMAGES if "ingest" in own.get("calls", [])}
    every = [FUNCTIONS[each][0] for each in SERVING] + list(IMAGES)
    called |= {f"{name}.Arn" for name in every} if own.get("endpoint") else set()
    used = given_for(own.get("uses", []), folder=own.get("folder", FOLDER)).grants
    signing = secret("AuthSecretName") if "MCP_AUTH_SECRET_KEY" in variables(function) else frozenset()
    return {("lambda:InvokeFunction", arn) for arn in called} | used | signing


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_may_do_what_its_tools_need_and_nothing_else(function):
    assert allowed(function) == expected(function) | logs(function)


@pytest.mark.parametrize("function", SERVING)
def test_a_function_has_the_variables_that_the_ports_of_its_tools_read_and_no_others(function):
    assert set(variables(function)) == needed(function).variables | EVERYONES


def test_the_endpoint_reads_which_tokens_were_ended_and_no_data():
    services = {action.partition(":")[0] for action, _ in allowed("mcp_http")}
    assert services == {"lambda", "logs", "secretsmanager", "ssm", "kms", "dynamodb"}
    tables = {each for each in allowed("mcp_http") if each[0].startswith("dynamodb:")}
    assert tables == {("dynamodb:GetItem", "AuthorizationsTable.Arn")}
    named = {name for name in variables("mcp_http") if "TABLE" in name or name.startswith("BIO_MCP_OPENSEARCH")}
    assert named == {"BIO_MCP_TABLE_AUTHORIZATIONS"}


def test_the_pages_change_nothing_but_files_that_are_sent():
    sent = {("s3:PutObject", "${Bucket.Arn}/uploads/*")}
    assert sent <= allowed("console")
    others = {(action, on) for action, on in allowed("console") - sent if on != "BudgetsTable.Arn"}
    verbs = {action.partition(":")[2] for action, _ in others if not action.startswith(("logs:", "es:", "lambda:"))}
    assert not {verb for verb in verbs if verb.startswith(("Put", "Update", "Delete", "BatchWrite", "Send"))}
    assert {action for action, on in others if action.startswith("es:")} == {"es:ESHttpGet"}
    called = {on for action, on in others if action == "lambda:InvokeFunction"}
    functions = "Search Answer Exports Bibliography Pubmed SyncDelta News Checkpoint Ingest Projects Screening".split()
    assert called == {f"{each}Function.Arn" for each in (*functions, "IngestImage")}


OTHERS = {"articles", "jobs", "project-documents", "reviews", "calls", "index", "inbox"}  # of tables, an index, callers


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_knows_a_file_that_is_gone_from_a_denial(function):
    """S3 says so to who may list the folder: `adapters/aws/clients.py`."""
    read = {on.split("/")[1] for action, on in allowed(function) if action == "s3:GetObject"} - OTHERS
    role, _ = FUNCTIONS[function][1]["Role"]["Fn::GetAtt"].split(".")
    documents = documents_of(RESOURCES[role]["Properties"])
    conditions = [each["Condition"] for one in documents for each in statements(one) if "Condition" in each]
    prefixes = [each["StringLike"]["s3:prefix"] for each in conditions if "StringLike" in each]
    assert read <= {each.removesuffix("/*") for one in prefixes for each in ([one] if isinstance(one, str) else one)}


def test_who_signs_people_in_reaches_their_table_and_the_secret_and_no_data():
    reached = {on for action, on in allowed("authorize") if action.startswith(("dynamodb:", "s3:", "es:", "lambda:"))}
    assert reached == {"AuthorizationsTable.Arn", "BudgetsTable.Arn"}
    writers = {each for each in FUNCTIONS for action, on in allowed(each) if on in reached and "Put" in action}
    assert writers == {"authorize"}


def test_every_function_may_send_traces_and_nothing_else_on_all_resources():
    traced = {name for name, role in of(ROLE).items() if {"Ref": "FunctionPolicy"} in role.get("ManagedPolicyArns", [])}
    assert traced == of(ROLE).keys() - OTHER_ROLES
    tracing = RESOURCES["FunctionPolicy"]["Properties"]["PolicyDocument"]
    sending = {("xray:PutTraceSegments", "*"), ("xray:PutTelemetryRecords", "*")}
    assert {each for each in allowed_by([tracing]) if not each[0].startswith("ec2:")} == sending


def test_each_role_serves_one_function():
    users = [properties["Role"]["Fn::GetAtt"] for _, properties in FUNCTIONS.values()]
    assert len(set(users)) == len(users) == len(FUNCTIONS)


def test_a_schedule_may_only_send_to_the_queues():
    sends = allowed_by(documents_of(RESOURCES["ScheduleRole"]["Properties"]))
    assert sends == {("sqs:SendMessage", "WorkQueue.Arn"), ("sqs:SendMessage", "DeadLetters.Arn")}


def test_the_heartbeats_schedule_may_only_call_it_and_the_canary_may_only_move_the_endpoints_alias():
    beats = allowed_by(documents_of(RESOURCES["HeartbeatScheduleRole"]["Properties"]))
    assert beats == {("lambda:InvokeFunction", "HeartbeatFunction.Arn")}
    moves = allowed_by(documents_of(RESOURCES["CanaryRole"]["Properties"]))
    on_endpoint = {"McpHttpFunction.Arn", "${McpHttpFunction.Arn}:*"}
    assert {on for action, on in moves if action.startswith("lambda:")} == on_endpoint
    assert {action for action, on in moves if on not in on_endpoint} == {"cloudwatch:DescribeAlarms"}


def test_no_policy_has_a_pattern_of_actions_or_all_resources():
    pairs = {pair for role in of(ROLE).values() for pair in allowed_by(documents_of(role))}
    assert pairs
    assert {(action, on) for action, on in pairs if "*" in action or on in ("*", "arn:*")} == set()


TAKEN_BY = {
    "ScheduleRole": "scheduler",
    "HeartbeatScheduleRole": "scheduler",
    "CanaryRole": "codedeploy",
    "LoadMachineRole": "states",
}


def test_only_functions_schedules_and_the_machine_of_loads_may_take_a_role():
    for name, role in of(ROLE).items():
        [statement] = role["AssumeRolePolicyDocument"]["Statement"]
        assert statement["Principal"] == {"Service": f"{TAKEN_BY.get(name, 'lambda')}.amazonaws.com"}


@pytest.mark.parametrize(("given", "name"), [("", "bio-mcp-01234567"), ("papers", "papers")])
def test_the_domain_names_the_role_that_searches_and_an_operator_if_there_is_one(given, name):
    properties, stack = RESOURCES["SearchDomain"]["Properties"], {**STACK, "OpenSearchDomainName": given}
    assert rendered(properties["DomainName"], stack) == name
    arn = f"arn:aws:es:eu-central-1:123456789012:domain/{name}"
    stack |= {"OpenSearchIndex": "pubmed_chunk", "AWS::NoValue": None}
    role, nobody = rendered(properties["AccessPolicies"], stack | {"OperatorArn": ""})["Statement"]
    assert (role["Principal"], role["Action"], nobody) == (
        {"AWS": {"Fn::GetAtt": "SearchRole.Arn"}},
        "es:ESHttpGet",
        None,
    )
    assert role["Resource"] == f"{arn}/pubmed_chunk/*"
    *_, operator = rendered(properties["AccessPolicies"], stack | {"OperatorArn": "arn:aws:iam::1:role/them"})[
        "Statement"
    ]
    assert (operator["Principal"], operator["Resource"]) == ({"AWS": "arn:aws:iam::1:role/them"}, f"{arn}/*")


INDICES = {  # parameters -> where the policy of who searches the corpus allows it
    "made": ({"OpenSearchUrl": ""}, "arn:aws:es:eu-central-1:123456789012:domain/bio-mcp-01234567"),
    "named": (
        {"OpenSearchUrl": "", "OpenSearchDomainName": "papers"},
        "arn:aws:es:eu-central-1:123456789012:domain/papers",
    ),
    "given": ({"OpenSearchUrl": "https://it", "OpenSearchArn": "arn:it"}, "arn:it"),
}


@pytest.mark.parametrize("which", INDICES)
def test_who_searches_may_do_so_on_the_domain_that_is_made_or_given(which):
    given, arn = INDICES[which]
    defaults = {name: str(each["Default"]) for name, each in TEMPLATE["Parameters"].items()}
    document = rendered(
        RESOURCES["CorpusReaderPolicy"]["Properties"]["PolicyDocument"],
        {**defaults, **STACK, "AWS::NoValue": None, "Bucket.Arn": "", **given},
    )
    [statement] = [each for each in document["Statement"] if each]
    assert statement["Action"] == "es:ESHttpGet"
    assert set(statement["Resource"]) == {f"{arn}/pubmed_chunk{rest}" for rest in ("", "-*", "/*")}


def test_a_role_has_a_shared_policy_where_there_is_one():
    for role in of(ROLE).values():
        for each in role.get("ManagedPolicyArns", []):
            name = next(branches(each))["Ref"]
            condition = RESOURCES[name].get("Condition")
            assert each in ({"Ref": name}, {"Fn::If": [condition, {"Ref": name}, {"Ref": "AWS::NoValue"}]})


def on_index(function):
    return {
        (action, rendered({"Fn::Sub": path}, {**STACK, "OpenSearchArn": ""}))
        for action, path in allowed(function)
        if action.startswith("es:")
    }


def reaches(function, path):
    return {action.removeprefix("es:ESHttp") for action, pattern in on_index(function) if fnmatch(path, pattern)}


CORPUS_PATHS = [
    "/pubmed_chunk",
    "/pubmed_chunk/_search",
    "/pubmed_chunk-0123456789ab-1",
    "/pubmed_chunk-0123456789ab-1/_mget",
    "/pubmed_chunk-0123456789ab-1-own/_bulk",
]
PROJECT_PATHS = [
    "/pubmed_chunk.proj-lab",
    "/pubmed_chunk.proj-lab~0123456789ab~1/_search",
    "/pubmed_chunk.proj--a-b-c-0123456789ab~0123456789ab~1~own/_bulk",
]
NOBODYS_PATHS = ["/_aliases", "/_search", "/_all/_search", "/*/_search", "/_bulk", "/_cat/indices", "/pubmed/_search"]


def test_who_searches_the_corpus_reads_it_and_no_index_of_a_project():
    assert all(reaches("search", path) == {"Get"} for path in CORPUS_PATHS)
    assert all(reaches("search", path) == set() for path in PROJECT_PATHS)


def test_who_answers_from_projects_reads_their_indices_and_writes_nothing():
    assert all(reaches("projects", path) == {"Get"} for path in PROJECT_PATHS)
    assert all(reaches("projects", path) == {"Get"} for path in CORPUS_PATHS)  # where a quotation is looked for too
    written = {
        "CallsTable.Arn",
        "${Bucket.Arn}/calls/*",
        "BudgetsTable.Arn",
    }  # by what every call is logged and charged
    others = {(action, on) for action, on in allowed("projects") if on not in written}
    verbs = {action.partition(":")[2] for action, _ in others if not action.startswith("logs:")}
    assert not {verb for verb in verbs if verb.startswith(("Put", "Update", "Delete", "BatchWrite", "Send"))}


def test_who_stores_chunks_writes_to_indices_of_projects_and_deletes_none():
    assert all(reaches("chunks", path) == {"Get", "Post"} for path in PROJECT_PATHS)
    assert all(reaches("chunks", path) == set() for path in CORPUS_PATHS)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_no_function_reaches_beyond_the_indices_of_the_corpus_and_of_projects(function):
    assert [path for path in NOBODYS_PATHS if reaches(function, path)] == []


def test_the_name_of_the_corpus_cannot_be_read_as_that_of_a_project():
    """A dot ends it in the names of projects' indices."""
    for name in ("pubmed_chunk.proj-lab", "a.b", ".", "a*", "a,b"):
        assert not re.fullmatch(TEMPLATE["Parameters"]["OpenSearchIndex"]["AllowedPattern"], name)


# What an adapter calls, as actions of IAM; a transaction needs those of its parts.
ACTIONS = {
    "transact_write_items": {"PutItem", "UpdateItem"},
    "put_or_get": {"PutItem"},
    "take_item": {"DeleteItem"},
    "batch_get_items": {"BatchGetItem"},
    "batch_write_items": {"BatchWriteItem", "PutItem", "DeleteItem"},  # under a lease, in transactions
    "head_object": {"GetObject"},
    "put_events": {"PutEvents"},
}
CLASSES = {  # who reads and writes what
    "DocumentsTable.Arn": ("documents.DynamoDocuments",),
    "CheckpointsTable.Arn": ("state.DynamoCheckpoints",),
    "JobsTable.Arn": ("state.DynamoJobs",),
    "LeasesTable.Arn": ("state.DynamoLeases",),
    "AuditTable.Arn": ("state.DynamoAudit",),
    "PaceTable.Arn": ("rate_limit.DynamoRateLimiter",),
    "CacheTable.Arn": ("answers.DynamoCache",),
    "${Bucket.Arn}/articles/*": ("blobs.S3Blobs",),
    "${Bucket.Arn}/jobs/*": ("blobs.S3Blobs",),
    "BudgetsTable.Arn": ("accounts.DynamoBudgets",),
    "EventBus.Arn": ("messages.EventBridgeAnnouncements",),
}


# What adapters of other stores do: under a lease each of their writes is checked against it.
BY_OTHERS = {"LeasesTable.Arn": {"ConditionCheckItem"}}
# What commands alone do, with the permissions of whoever runs them.
BY_HAND = {"JobsTable.Arn": {"DeleteItem"}, "CheckpointsTable.Arn": {"DeleteItem"}}


def source(adapter):
    module, name = adapter.split(".")
    text = (ADAPTERS / f"{module}.py").read_text()
    [found] = [each for each in ast.parse(text).body if isinstance(each, ast.ClassDef) and each.name == name]
    return ast.get_source_segment(text, found)


def called(*adapters):
    trees = [ast.walk(ast.parse(source(each))) for each in adapters]
    nodes = [node for tree in trees for node in tree]
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    attributes |= {node.id for node in nodes if isinstance(node, ast.Name)}
    verbs = re.compile(
        r"(get|put|update|delete|batch_get|batch_write|head|transact_write)_(item|items|object|events)$|put_or_get$|take_item$"
    )
    found = {each for each in attributes if verbs.match(each)}
    return {action for each in found for action in ACTIONS.get(each, {each.title().replace("_", "")})}


def listed(*adapters):
    """Scan where the adapters list a table; an operator may do that as himself, and need no function for it."""
    return {"Scan" for each in adapters if "_table.scan(" in source(each)}


@pytest.mark.parametrize("resource", CLASSES)
def test_what_a_function_may_do_to_a_store_its_adapter_does(resource):
    granted = {action.partition(":")[2] for each in FUNCTIONS for action, on in allowed(each) if on == resource}
    assert granted
    assert granted <= called(*CLASSES[resource]) | listed(*CLASSES[resource]) | BY_OTHERS.get(resource, set())


@pytest.mark.parametrize("resource", [each for each in CLASSES if "Table" in each])
def test_what_an_adapter_does_to_a_store_some_function_may_do(resource):
    granted = {action.partition(":")[2] for each in FUNCTIONS for action, on in allowed(each) if on == resource}
    assert called(*CLASSES[resource]) - BY_HAND.get(resource, set()) <= granted

"""template.yaml against the product: what it starts, sends, waits for, keeps and watches is what there is."""

import json
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from bio_mcp.callers import SCOPES
from bio_mcp.catalog import MODULES, RESOURCES, TOOLS
from bio_mcp.doors.aws.queues import INBOX, MARGIN_S, Event
from bio_mcp.doors.aws.tool_function import SERVICE
from bio_mcp.doors.mcp.listing import chosen
from bio_mcp.ingesting import notices
from bio_mcp.settings import Settings, words_of
from bio_mcp.syncing import queries
from tests.support.aws_tables import TABLE, properties, template
from tests.support.aws_template import (
    FUNCTIONS,
    IMAGES,
    SERVING,
    TEMPLATE,
    branches,
    listed,
    of,
    rendered,
    text,
    timeout_ms,
    variables,
)
from tests.support.aws_template import RESOURCES as MADE

ROOT = Path(__file__).parents[1]
OFFERED = [*TOOLS.values(), *RESOURCES.values()]
EMBED = [name for name in FUNCTIONS if "BIO_MCP_MODELS" in variables(name)]
PARAMETERS = TEMPLATE["Parameters"]
SCHEDULES = of("AWS::Scheduler::Schedule")
QUEUES = {"WorkQueue": "sync_delta", "IngestQueue": "ingest", "EvaluateQueue": "evaluate", "ExportQueue": "exports"}


# ---- functions ----


def test_every_directory_of_functions_is_a_function_and_the_other_way_round():
    assert set(FUNCTIONS) == {path.parent.name for path in (ROOT / "functions").glob("*/app.py")}


def served_by(**given):
    names = {name: name for name in MADE}
    told = rendered(variables("mcp_http")["BIO_MCP_FUNCTIONS"], {"IngestImageUri": "", **names, **given})
    pairs = [each.split("=") for each in told.split(",")]
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def test_every_tool_is_served_by_exactly_one_function_which_the_endpoint_knows():
    served = served_by()
    assert served == {name: FUNCTIONS[name][0] for name in SERVING}
    assert {each.lambda_module for each in OFFERED} == set(served) == {each.__name__.split(".")[-1] for each in MODULES}


@pytest.mark.parametrize("offered", OFFERED, ids=lambda each: each.name)
def test_a_function_has_time_for_its_tools_and_their_answer(offered):
    assert timeout_ms(offered.lambda_module) >= (offered.timeout + MARGIN_S) * 1000


def test_where_an_image_is_given_it_ingests_and_reads_scans():
    by_image = served_by(IngestImageUri="123456789012.dkr.ecr.eu-central-1.amazonaws.com/bio-mcp-ingest:1")
    assert by_image == {**served_by(), "ingest": "IngestImageFunction"}
    assert list(IMAGES) == ["IngestImageFunction"]


def test_the_endpoint_outlasts_every_tool_and_the_api_outlasts_the_endpoint():
    longest = max(each.timeout for each in OFFERED) * 1000
    assert longest < timeout_ms("mcp_http") < MADE["ApiToMcpHttp"]["Properties"]["TimeoutInMillis"] <= 30_000


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_runs_where_its_layers_were_built_for(function):
    everyones, own = TEMPLATE["Globals"]["Function"], FUNCTIONS[function][1]
    assert everyones["Runtime"] == "python3.13"
    assert everyones["Architectures"] == [{"Ref": "Arch"}]
    inference, mcp = {"Ref": "InferenceLayer"} in own["Layers"], {"Ref": "McpLayer"} in own["Layers"]
    assert own["Layers"][0] == {"Ref": "CommonLayer"}
    assert (inference, mcp) == (function in EMBED, function not in [*SERVING, "load"])
    assert variables(function).get("BIO_MCP_MODELS", "/opt/models") == "/opt/models"


def test_functions_embed_by_the_model_that_their_layer_was_built_with():
    assert EMBED
    for given in map(variables, EMBED):
        assert given["BIO_MCP_EMBEDDING_MODEL"] == {"Ref": "EmbeddingModel"}
        assert given["ORT_DISABLE_TELEMETRY"] == "1"
    default = PARAMETERS["EmbeddingModel"]["Default"]
    assert default == Settings().embedding_model
    for makefile in ("Makefile", "layers/inference/Makefile"):
        assert f"EMBEDDING_MODEL ?= {default}\n" in (ROOT / makefile).read_text()


def test_the_layer_of_inference_has_the_model_of_the_package(tmp_path):
    recipe = (ROOT / "layers/inference/Makefile").read_text().partition("\tfor name in ")[2].partition("\t$(finish)")[0]
    made = f"copied:\n\tfor name in {recipe}".replace("$(ROOT)/.venv/bin/python", sys.executable)
    (tmp_path / "Makefile").write_text(made)
    (tmp_path / "models").mkdir()
    given = ["EMBEDDING_MODEL=bge-small-en-v1.5", f"ARTIFACTS_DIR={tmp_path}"]
    subprocess.run(["make", "--silent", *given], cwd=tmp_path, check=True)
    assert (tmp_path / "models/bge-small-en-v1.5/model.onnx").is_file()


def test_a_build_with_another_model_names_it_in_the_built_template(tmp_path):
    template, built = (ROOT / "template.yaml").read_text(), tmp_path / ".aws-sam/build/template.yaml"
    built.parent.mkdir(parents=True)
    built.write_text(template)
    [line] = [each for each in (ROOT / "Makefile").read_text().splitlines() if "/^  EmbeddingModel:" in each]
    command = line.strip().removeprefix("@").replace("$$", "$").replace("$(firstword $(EMBEDDING_MODEL))", "small-int8")
    subprocess.run(["sh", "-c", command], cwd=tmp_path, check=True)
    pairs = zip(template.splitlines(), built.read_text().splitlines(), strict=True)
    [change] = [(before.strip(), after.strip()) for before, after in pairs if before != after]
    assert change == ("Default: bge-small-en-v1.5", "Default: small-int8")


@pytest.mark.parametrize("layer", [each for each in MADE if each.endswith("Layer")])
def test_a_layer_is_made_by_the_makefile_in_its_directory(layer):
    made = MADE[layer]
    assert made["Metadata"] == {"BuildMethod": "makefile"}
    assert f"build-{layer}:" in (ROOT / made["Properties"]["ContentUri"] / "Makefile").read_text()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_is_traced_and_logs_json_into_a_group_that_forgets(function):
    own, everyones = FUNCTIONS[function][1], TEMPLATE["Globals"]["Function"]
    group = MADE[own["LoggingConfig"]["LogGroup"]["Ref"]]["Properties"]
    assert group["RetentionInDays"] == {"Ref": "LogRetentionDays"}
    assert text(group["LogGroupName"]) == f"/aws/lambda/{text(own['FunctionName'])}"
    assert (everyones["Tracing"], everyones["LoggingConfig"]["LogFormat"]) == ("Active", "JSON")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_variable_is_a_setting(function):
    known = {each.metadata["env"] for each in fields(Settings)} | {"AWS_ENDPOINT_URL", "ORT_DISABLE_TELEMETRY"}
    assert set(variables(function)) <= known
    assert variables(function)["BIO_MCP_MODE"] == "aws"


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_variable_names_a_secret_and_never_holds_one(function):
    secrets = {each.metadata["env"] for each in fields(Settings) if each.metadata["secret"]}
    for name in secrets & set(variables(function)):
        given = [text(each) for each in branches(variables(function)[name])]
        assert all(re.fullmatch(r"\$\{SecretStore\}:\$\{\w+Name\}|", each) for each in given)
    assert PARAMETERS["SecretStore"]["AllowedValues"] == ["secretsmanager", "ssm"]


@pytest.mark.parametrize("function", ["authorize", "console", "mcp_http"])
def test_a_change_of_the_layers_publishes_what_the_api_calls_again_and_the_api_calls_what_was_published(function):
    resource, own = FUNCTIONS[function]
    assert own["AutoPublishAlias"] == "live"
    assert own["AutoPublishAliasAllProperties"] is True
    assert all(MADE[layer["Ref"]]["Properties"]["PublishLambdaVersion"] is True for layer in own["Layers"])
    for switch, snapshots in (("on", "PublishedVersions"), ("off", "None")):
        given = {"SnapStart": switch, "IndexTier": "opensearch"}
        assert rendered(own["SnapStart"], given) == {"ApplyOn": snapshots}
    assert own["VersionDeletionPolicy"] == "Delete"  # an older version ends with its snapshot
    in_s3 = {"SnapStart": "on", "IndexTier": "s3", "IndexStorageMiB": 4096}
    room = rendered(own.get("EphemeralStorage", {"Size": 512}), in_s3)["Size"]
    assert (rendered(own["SnapStart"], in_s3)["ApplyOn"] == "None") == (room > 512)  # which SnapStart does not allow
    named = resource.removesuffix("Function")
    assert MADE[f"ApiTo{named}"]["Properties"]["IntegrationUri"] == {"Ref": f"{resource}.Alias"}
    assert MADE[f"ApiMayCall{named}"]["Properties"]["FunctionName"] == {"Ref": f"{resource}.Alias"}


# ---- a table of papers that was restored ----

RESTORED = {"DocumentsTableName": "restored", "AWS::Partition": "aws", "AWS::Region": "r", "AWS::AccountId": "1"}


@pytest.mark.parametrize("function", [name for name in FUNCTIONS if "BIO_MCP_TABLE_DOCUMENTS" in variables(name)])
def test_a_table_that_is_given_takes_the_place_of_the_papers_by_one_parameter(function):
    assert rendered(variables(function)["BIO_MCP_TABLE_DOCUMENTS"], RESTORED) == "restored"
    [own] = MADE[f"{FUNCTIONS[function][0].removesuffix('Function')}Role"]["Properties"]["Policies"]
    stores = [each for each in own["PolicyDocument"]["Statement"] if "dynamodb" in str(each)]
    named = {name: name for name in (*MADE, *(f"{each}.Arn" for each in MADE))}
    resources = [one for each in stores for one in listed(rendered(each["Resource"], named | RESTORED))]
    assert "arn:aws:dynamodb:r:1:table/restored" in resources


def test_where_a_table_is_given_nothing_names_the_one_that_the_stack_makes():
    assert MADE["DocumentsTable"]["Condition"] == "MakesDocuments"
    unconditional = {key: each for key, each in TEMPLATE.items() if key != "Conditions"}
    assert "DocumentsTable" in str(unconditional)
    assert named_in(without(unconditional, "MakesDocuments")) & {"DocumentsTable", "DocumentsTable.Arn"} == set()


def without(value, condition):
    match value:
        case {"Fn::If": [name, _, no]} if name == condition:
            return without(no, condition)
        case dict():
            return {key: without(each, condition) for key, each in value.items()}
        case list():
            return [without(each, condition) for each in value]
    return value


def named_in(value):
    """What Refs, GetAtts and Subs in a part of the template name."""
    match value:
        case {"Ref": name} | {"Fn::GetAtt": name}:
            return {name}
        case {"Fn::Sub": [reported, given]}:
            return named_in({"Fn::Sub": reported}) | named_in(given)
        case {"Fn::Sub": reported}:
            return {*re.findall(r"\$\{([\w.:]+)\}", reported)}
        case dict():
            return set().union(*map(named_in, value.values()))
        case list():
            return set().union(*map(named_in, value))
    return set()


# ---- two stacks in one account ----

NAMES = {"FunctionName", "LogGroupName", "DashboardName", "DomainName", "TableName", "BucketName", "QueueName", "Name"}
ELSEWHERE = {"ApiDomain", "IssuersTokens"}  # its name is a domain of one's own; or of its API alone
MACHINE = "-0721-11ee-b056-02bec084ce62"  # of a UUID by time and machine, as AWS makes the ids of stacks


@pytest.mark.parametrize("logical_id", [name for name in MADE if name not in ELSEWHERE])
def test_what_has_a_name_has_it_from_its_own_stack(logical_id):
    one, other = (named(logical_id, stack) for stack in (f"bio-mcp/201c12d0{MACHINE}", f"other/3f9e2b10{MACHINE}"))
    assert all(one[key] != other[key] for key in one)


def named(logical_id, stack):
    """Property -> name that the resource is given there; those of other resources are left out."""
    properties = MADE[logical_id].get("Properties", {})
    defaults = {name: str(each["Default"]) for name, each in PARAMETERS.items()}
    own = {
        "AWS::StackId": f"arn:aws:cloudformation:eu-central-1:1234:stack/{stack}",
        "AWS::StackName": stack.split("/")[0],
    }
    given = {key: value for key in NAMES & properties.keys() if not refers(value := properties[key])}
    return {key: rendered(value, defaults | own) for key, value in given.items()}


def refers(value):
    return isinstance(value, dict) and value.get("Ref", "").split(".")[0] in MADE


# ---- the HTTP API ----


def test_the_api_is_throttled_logged_and_has_the_routes_that_the_endpoint_answers():
    stage = MADE["ApiStage"]["Properties"]
    assert stage["DefaultRouteSettings"]["ThrottlingRateLimit"] == {"Ref": "CallsPerSecond"}
    assert stage["DefaultRouteSettings"]["ThrottlingBurstLimit"] == {"Ref": "CallsAtOnce"}
    logged = json.loads(stage["AccessLogSettings"]["Format"])
    assert not {name for name in logged.values() if "authorizer" in name or "header" in name.lower()}
    routes = {each["RouteKey"]: text(each["Target"]) for each in of("AWS::ApiGatewayV2::Route").values()}
    assert routes["ANY /{proxy+}"] == routes["GET /"] == "integrations/${ApiToConsole}"  # what no other has is a page
    own = "sign-in sign-out admin/people authorize consent token register revoke .well-known/oauth-authorization-server"
    others = "OPTIONS /mcp,GET /health,GET /ready,GET /,ANY /mcp,ANY /{proxy+},ANY /.well-known/{proxy+}"
    paths = [f"ANY /{path}" for path in (*own.split(), ".well-known/oauth-authorization-server/{proxy+}")]
    assert routes.keys() == {*others.split(","), *paths}
    assert {routes[path] for path in paths} == {"integrations/${ApiToAuthorize}"}


def test_an_issuers_tokens_are_checked_at_the_gateway_where_that_is_wanted_but_not_those_of_a_preflight():
    routes = {each["RouteKey"]: each for each in of("AWS::ApiGatewayV2::Route").values()}
    authorizer = MADE["IssuersTokens"]["Properties"]
    for wanted, kind in [("on", "JWT"), ("off", "NONE")]:
        assert rendered(routes["ANY /mcp"]["AuthorizationType"], {"GatewayChecksTokens": wanted}) == kind
    assert authorizer["JwtConfiguration"]["Issuer"] == {"Ref": "AuthIssuer"}
    own, mcp = (
        {"AuthAudience": "", "EdgeDomainName": "", "DomainName": "mcp.example.org", "CertificateArn": "arn"},
        "https://mcp.example.org/mcp",
    )
    assert rendered(authorizer["JwtConfiguration"]["Audience"], own) == [mcp]
    assert rendered(authorizer["JwtConfiguration"]["Audience"], {"AuthAudience": "ours"}) == ["ours"]
    assert [key for key, each in routes.items() if "AuthorizationType" in each] == ["ANY /mcp"]
    assert PARAMETERS["GatewayChecksTokens"]["Default"] == "off"


@pytest.mark.parametrize("whose", ["caller", "tenant", "address"])
def test_budgets_are_by_default_those_of_the_settings(whose):
    parameter = PARAMETERS[f"{whose.title()}Budgets"]
    assert parameter["Default"] == ",".join(getattr(Settings(), f"{whose}_budgets"))
    for given in (parameter["Default"], "none", "ann:calls=5,ncbi=7"):
        assert re.fullmatch(parameter["AllowedPattern"], given)


def test_the_records_of_a_first_sync_and_the_listed_tools_are_by_default_those_of_the_settings():
    assert PARAMETERS["SyncMaxRecords"]["Default"] == Settings().sync_max_records
    assert PARAMETERS["ListedTools"]["Default"] == ",".join(Settings().listed_tools)
    assert variables("sync_delta")["BIO_MCP_SYNC_MAX_RECORDS"] == {"Ref": "SyncMaxRecords"}
    assert variables("mcp_http")["BIO_MCP_TOOLS"] == {"Ref": "ListedTools"}


def test_an_identity_provider_is_off_and_else_by_default_as_the_settings_have_it():
    assert [PARAMETERS[name]["Default"] for name in ("IdpIssuer", "IdpJwksUrl")] == ["", ""]
    for name, setting in (("Subject", "idp_subject_claim"), ("Tenant", "idp_tenant_claim")):
        assert PARAMETERS[f"Idp{name}Claim"]["Default"] == getattr(Settings(), setting)
    scopes = PARAMETERS["IdpScopes"]
    assert scopes["Default"] == ",".join(Settings().idp_scopes)
    assert re.fullmatch(scopes["AllowedPattern"], ",".join(SCOPES))
    assert not any(re.fullmatch(scopes["AllowedPattern"], each) for each in ("", "read,", "write", "read, live"))
    given = {name: value for name, value in variables("authorize").items() if name.startswith("MCP_IDP_")}
    assert {name.removeprefix("MCP_IDP_").replace("_", ""): value["Ref"] for name, value in given.items()} == {
        name.removeprefix("Idp").upper(): name for name in PARAMETERS if name.startswith("Idp")
    }
    assert [name for name in FUNCTIONS if "MCP_IDP_ISSUER" in variables(name)] == ["authorize"]


@pytest.mark.parametrize("listed", [*TOOLS, "all", "default,review", ",".join(TOOLS)])
def test_the_listed_tools_may_be_families_and_tools_by_their_names(listed):
    pattern = PARAMETERS["ListedTools"]["AllowedPattern"]
    assert re.fullmatch(pattern, listed)
    assert not any(re.fullmatch(pattern, each) for each in ("", f"{listed},", "all, rag", "$(x)"))
    assert chosen(list(TOOLS.values()), words_of(listed))


@pytest.mark.parametrize("edge", ["", "mcp.example.org"])
def test_clients_are_told_the_address_that_they_have(edge):
    given = {"EdgeDomainName": edge, "DomainName": "origin.example.org", "CertificateArn": "arn"}
    for function in ("mcp_http", "console", "authorize", "heartbeat"):
        told = rendered(variables(function)["MCP_RESOURCE_URL"], given)
        assert told == f"https://{edge or 'origin.example.org'}/mcp"
    assert rendered(TEMPLATE["Outputs"]["McpUrl"]["Value"], given) == told


def test_a_stack_that_nobody_could_call_is_refused():
    described = [each["AssertDescription"] for rule in TEMPLATE["Rules"].values() for each in rule["Assertions"]]
    assert any("without either the endpoint refuses every call" in each for each in described)


# ---- schedules and the queue ----


TERMS = [
    "statins[tiab] AND 2021[dp]",
    'statins[tiab] AND "heart failure"[mesh]',
    '"heart failure"[tiab] OR "Alzheimer\'s disease"',
    "Sjögren é β",
]


@pytest.mark.parametrize("number", "123")
@pytest.mark.parametrize("term", TERMS)
def test_a_schedule_sends_what_its_tool_takes_of_a_term_as_it_was_typed(number, term):
    name, given = f"Corpus{number}Schedule", {f"Corpus{number}Key": "a.b:c-1", f"Corpus{number}Term": term}
    assert all(re.fullmatch(PARAMETERS[each]["AllowedPattern"], value) for each, value in given.items())
    event = Event.model_validate_json(rendered(SCHEDULES[name]["Target"]["Input"], given))
    tool = TOOLS[event.tool]
    request = tool.input.model_validate(event.arguments)
    assert (request.query_key, request.term, tool.lambda_module) == ("a.b:c-1", term, "sync_delta")
    assert MADE[name]["Condition"] == f"HasCorpus{number}"


def test_what_was_retracted_is_flagged_each_night_under_a_key_that_no_corpus_may_have():
    event = Event.model_validate_json(SCHEDULES["RetractionsSchedule"]["Target"]["Input"])
    assert event.tool == "pubmed.sync_delta"
    assert event.arguments == {
        "query_key": queries.RETRACTIONS_KEY,
        "term": queries.RETRACTIONS_TERM,
        "known_only": True,
    }
    assert not re.fullmatch(PARAMETERS["Corpus1Key"]["AllowedPattern"], queries.RETRACTIONS_KEY)
    assert MADE["RetractionsSchedule"]["Condition"] == "HasContact"


@pytest.mark.parametrize(
    ("sources", "nightly", "there"),
    [
        ("icite,crossref,europepmc,unpaywall", "on", True),
        ("crossref", "on", True),
        ("crossref", "off", False),
        ("icite,europepmc,unpaywall", "on", False),
        ("none", "on", False),
    ],
)
def test_notices_about_documents_of_projects_are_asked_for_each_night_where_crossref_is(sources, nightly, there):
    event = Event.model_validate_json(SCHEDULES["NoticesSchedule"]["Target"]["Input"])
    assert event.tool == "pubmed.sync_delta"
    assert event.arguments == {"query_key": notices.QUERY_KEY, "term": notices.TERM}
    assert not re.fullmatch(PARAMETERS["Corpus1Key"]["AllowedPattern"], notices.QUERY_KEY)
    given = {"LiteratureSources": sources, "NightlyNotices": nightly}
    assert re.fullmatch(PARAMETERS["LiteratureSources"]["AllowedPattern"], sources)
    assert nightly in PARAMETERS["NightlyNotices"]["AllowedValues"]
    for name in ("NoticesSchedule", "NoticesSyncAgeAlarm", "NoticesCompleteSyncsMetric"):
        assert rendered({"Condition": MADE[name]["Condition"]}, given) is there


@pytest.mark.parametrize("term", ["a\\", r"\"heart failure\"[tiab]", r"\n", "a\nb", 'statins AND "heart'])
def test_a_term_that_was_escaped_or_cut_off_is_refused_in_words_that_help(term):
    assert not re.fullmatch(PARAMETERS["Corpus1Term"]["AllowedPattern"], term)
    assert "quotation marks as they are" in PARAMETERS["Corpus1Term"]["ConstraintDescription"]


@pytest.mark.parametrize("name", [each for each in SCHEDULES if each != "HeartbeatSchedule"])
def test_a_schedule_sends_to_the_work_queue_and_what_cannot_be_sent_is_kept(name):
    schedule = SCHEDULES[name]
    assert "Name" not in schedule  # the name would be shared by every stack of the account
    assert schedule["FlexibleTimeWindow"]["Mode"] == "FLEXIBLE"
    assert schedule["Target"]["Arn"] == {"Fn::GetAtt": "WorkQueue.Arn"}
    assert schedule["Target"]["DeadLetterConfig"] == {"Arn": {"Fn::GetAtt": "DeadLetters.Arn"}}


# ---- what is seen from outside, and what it costs ----


@pytest.mark.parametrize("minutes", [each for each in PARAMETERS["HeartbeatMinutes"]["AllowedValues"] if each])
def test_a_heartbeat_comes_often_enough_for_its_alarm(minutes):
    schedule, alarm = SCHEDULES["HeartbeatSchedule"], MADE["HeartbeatAlarm"]["Properties"]
    assert rendered(schedule["ScheduleExpression"], {"HeartbeatMinutes": str(minutes)}) == f"rate({minutes} minutes)"
    assert schedule["Target"]["Arn"] == {"Fn::GetAtt": "HeartbeatFunction.Arn"}
    assert minutes * 60 < alarm["Period"]
    assert (alarm["MetricName"], alarm["TreatMissingData"]) == ("Heartbeats", "breaching")
    assert alarm["Dimensions"] == [{"Name": "service", "Value": SERVICE}]


def test_a_heartbeat_that_fails_is_repeated_by_nobody():
    """By itself Lambda runs it twice more after an error, whatever the retry policy of the schedule says:
    https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html"""
    called = {name: each["Target"] for name, each in SCHEDULES.items() if "Function" in text(each["Target"]["Arn"])}
    assert set(called) == {"HeartbeatSchedule"}
    assert called["HeartbeatSchedule"]["RetryPolicy"]["MaximumRetryAttempts"] == 0
    [config] = of("AWS::Lambda::EventInvokeConfig").values()
    assert config["FunctionName"] == {"Ref": "HeartbeatFunction"}
    assert config["MaximumRetryAttempts"] == 0
    assert 60 <= config["MaximumEventAgeInSeconds"] < 5 * 60  # an older one would say how it was, not how it is


def test_a_new_version_of_the_endpoint_gets_a_few_calls_first_and_an_alarm_takes_it_back():
    canary = FUNCTIONS["mcp_http"][1]["DeploymentPreference"]
    assert (canary["Enabled"], canary["Type"]) == ({"Ref": "Canary"}, "Canary10Percent10Minutes")
    assert PARAMETERS["Canary"]["Default"] == "true"
    for condition, alarms in zip((True, False), canary["Alarms"]["Fn::If"][1:], strict=True):
        named = {each["Ref"] for each in alarms}
        assert named <= MADE.keys()
        assert ("HeartbeatAlarm" in named) == condition
        assert {"McpHttpErrorsAlarm", "ApiErrorsAlarm", "ToolFailuresAlarm"} <= named


@pytest.mark.parametrize(
    ("counts", "filters"),
    [("account", None), ("stack", {"TagKeyValue": ["aws:cloudformation:stack-name$bio-mcp"]})],
)
def test_a_budget_counts_the_account_or_what_has_the_stacks_tag(counts, filters):
    budget = MADE["Budget"]["Properties"]
    given = {"BudgetCounts": counts, "AWS::StackName": "bio-mcp", "AWS::NoValue": None, "MonthlyBudget": "100"}
    given["BudgetEmail"] = "a@example.org"
    made = rendered(budget["Budget"], given)
    assert made["CostFilters"] == filters
    assert made["BudgetLimit"] == {"Amount": "100", "Unit": "USD"}
    told = budget["NotificationsWithSubscribers"]
    assert [each["Notification"]["NotificationType"] for each in told] == ["ACTUAL", "FORECASTED"]
    assert all(each["Subscribers"][0]["Address"] == {"Ref": "BudgetEmail"} for each in told)


# ---- queues ----


@pytest.mark.parametrize(("name", "function"), QUEUES.items())
def test_a_queue_waits_for_its_function_to_end_before_it_sends_its_message_again(name, function):
    queue, [work] = MADE[name]["Properties"], FUNCTIONS[function][1]["Events"].values()
    assert queue["VisibilityTimeout"] * 1000 >= 6 * timeout_ms(function)
    assert queue["RedrivePolicy"] == {"deadLetterTargetArn": {"Fn::GetAtt": "DeadLetters.Arn"}, "maxReceiveCount": 5}
    assert work["Properties"]["Queue"] == {"Fn::GetAtt": f"{name}.Arn"}
    assert work["Properties"]["BatchSize"] == 1
    assert work["Properties"]["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


def test_nothing_but_the_queues_calls_a_function_without_waiting_for_its_answer():
    sources = [each["Type"] for _, own in FUNCTIONS.values() for each in own.get("Events", {}).values()]
    assert sources == ["SQS"] * len(QUEUES)
    assert set(of("AWS::Lambda::EventSourceMapping")) == {"IngestImageFunctionWork"}


def test_a_file_in_the_inbox_of_the_stacks_own_bucket_reaches_the_queue_of_the_function_that_ingests():
    [rule] = of("AWS::Events::Rule").values()
    pattern, [target] = rule["EventPattern"], rule["Targets"]
    assert pattern["source"] == ["aws.s3"]
    assert pattern["detail"] == {"bucket": {"name": [{"Ref": "Bucket"}]}, "object": {"key": [{"prefix": INBOX}]}}
    assert target["Arn"] == {"Fn::GetAtt": "IngestQueue.Arn"}
    assert "Input" not in target
    assert "InputTransformer" not in target  # the queue's door reads the event whole
    assert MADE["Bucket"]["Properties"]["NotificationConfiguration"]["EventBridgeConfiguration"]["EventBridgeEnabled"]


def test_what_eventbridge_cannot_send_becomes_a_dead_letter_and_it_may_send_for_no_other_rule():
    [rule] = of("AWS::Events::Rule").values()
    assert rule["Targets"][0]["DeadLetterConfig"] == {"Arn": {"Fn::GetAtt": "DeadLetters.Arn"}}
    [policy] = of("AWS::SQS::QueuePolicy").values()
    assert {each["Ref"] for each in policy["Queues"]} == {*QUEUES, "DeadLetters"}
    [sends, tls_only] = policy["PolicyDocument"]["Statement"]
    assert sends["Principal"] == {"Service": "events.amazonaws.com"}
    assert (sends["Effect"], sends["Action"]) == ("Allow", "sqs:SendMessage")
    assert [text(each) for each in sends["Resource"]] == ["IngestQueue.Arn", "DeadLetters.Arn"]
    assert sends["Condition"] == {"ArnEquals": {"aws:SourceArn": {"Fn::GetAtt": "InboxRule.Arn"}}}
    denied = tls_only["Fn::If"][1]
    assert denied["Effect"] == "Deny"
    assert {text(each) for each in denied["Resource"]} == {f"{each}.Arn" for each in (*QUEUES, "DeadLetters")}


TABLES = properties(TABLE)
EXPIRING = {f"{each}Table" for each in "Answers Authorizations Budgets Cache Calls Jobs Leases".split()}
FOR_A_WHILE = ("BudgetsTable", "CacheTable")


def test_there_is_one_table_for_each_port():
    ports = {"Documents", "Checkpoints", "Jobs", "Leases", "Audit", "Pace", "Projects", "ProjectDocuments", "Cache"}
    ports |= {"Graph", "Answers", "Calls", "Authorizations", "Budgets", "News", "Screenings"}
    assert set(TABLES) == {f"{port}Table" for port in ports}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_paid_by_request_and_encrypted_and_forgets_only_what_expires(name):
    assert TABLES[name]["BillingMode"] == "PAY_PER_REQUEST"
    encrypted = TABLES[name]["SSESpecification"]
    assert (encrypted["SSEEnabled"], encrypted["SSEType"]) == (True, "KMS")
    assert ("TimeToLiveSpecification" in TABLES[name]) == (name in EXPIRING)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_recoverable_and_retained_unless_it_is_kept_for_a_while_alone(name):
    table, resource = TABLES[name], template()["Resources"][name]
    policies = resource["DeletionPolicy"], resource["UpdateReplacePolicy"]
    if name in FOR_A_WHILE:
        assert policies == ("Delete", "Delete")
    else:
        assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
        assert "DeletionProtectionEnabled" not in table  # or a first deployment that fails would leave it behind
        assert policies == ("RetainExceptOnCreate", "Retain")

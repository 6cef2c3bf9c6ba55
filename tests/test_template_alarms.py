"""What template.yaml watches, and that the log holds what it counts there."""

import io
import json
import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from bio_mcp.call import call
from bio_mcp.catalog import RESOURCES, TOOLS
from bio_mcp.doors.aws import tool_function
from bio_mcp.errors import BIO_MCP, BudgetSpent, Failure, InvalidInput, NotFound
from bio_mcp.ingesting import notices
from bio_mcp.ports import Backends
from bio_mcp.syncing import queries
from tests.support.aws_template import ALARM, FUNCTIONS, SERVING, TEMPLATE, branches, of, rendered, text, timeout_ms
from tests.support.corpus import Corpus

OFFERED = [*TOOLS.values(), *RESOURCES.values()]
PARAMETERS = TEMPLATE["Parameters"]
ALARMS = of(ALARM)
FILTERS = of("AWS::Logs::MetricFilter")


def watched():
    return {(text(each["Namespace"]), each["MetricName"], text(dimension(each))) for each in metrics()}


def metrics():
    for alarm in ALARMS.values():
        yield from [each["MetricStat"]["Metric"] for each in alarm.get("Metrics", []) if "MetricStat" in each] or [
            alarm
        ]


def dimension(metric):
    """What a metric is of: what the stack makes, where that or what it was given may stand there."""
    return next((next(branches(each["Value"])) for each in metric.get("Dimensions", [])), "")


LOGICAL = [name for name, _ in FUNCTIONS.values()]
FILL_THEIR_TIME = {"SyncDeltaFunction", "IngestFunction", "EvaluateFunction", "ExportsFunction", "LoadFunction"}
OTHERWISE = {"HeartbeatFunction"}  # whose alarm is of what it finds
BUSY = "Documents Jobs Pace Cache ProjectDocuments Graph Answers Calls Budgets Authorizations News Screenings"
OF_THE_DOMAIN = "ClusterStatus.red ClusterIndexWritesBlocked FreeStorageSpace JVMMemoryPressure CPUUtilization"
MUST = {
    *(("AWS/Lambda", metric, name) for metric in ("Errors", "Throttles") for name in LOGICAL),
    *(("AWS/Lambda", "Duration", name) for name in LOGICAL if name not in FILL_THEIR_TIME | OTHERWISE),
    ("AWS/SQS", "ApproximateNumberOfMessagesVisible", "DeadLetters.QueueName"),
    *(
        ("AWS/SQS", "ApproximateAgeOfOldestMessage", f"{each}Queue.QueueName")
        for each in ("Work", "Ingest", "Evaluate", "Export")
    ),
    ("AWS/ApiGateway", "4xx", "Api"),
    ("AWS/ApiGateway", "5xx", "Api"),
    *(("AWS/DynamoDB", f"{kind}ThrottleEvents", f"{each}Table") for kind in ("Read", "Write") for each in BUSY.split()),
    *(("AWS/ES", metric, "SearchDomain") for metric in OF_THE_DOMAIN.split()),
    ("AWS/States", "ExecutionsFailed", "LoadMachine"),
    ("AWS::StackName", "ToolFailures", ""),
    ("AWS::StackName", "Throttled", ""),
    ("AWS::StackName", "Heartbeats", "bio_mcp"),
    *(("AWS::StackName", "CompleteSyncs", f"Corpus{number}Key") for number in "123"),
    *(("AWS::StackName", "CompleteSyncs", key) for key in (queries.RETRACTIONS_KEY, notices.QUERY_KEY)),
}


def ringing(monitoring):
    """The alarms of a stack with one corpus, a domain, a heartbeat and bulk loads."""
    given = {name: str(each.get("Default", "")) for name, each in PARAMETERS.items()}
    given |= {"Monitoring": monitoring, "Corpus1Key": "herbs", "Corpus1Term": "herbs[tiab]", "LoadsAtOnce": "20"}
    given |= {"NcbiAdminEmail": "a@example.org", "NightlyNotices": "on"}
    conditions = {name: TEMPLATE["Resources"][name].get("Condition") for name in ALARMS}
    return {name for name, each in conditions.items() if each is None or rendered({"Condition": each}, given)}


def test_basic_monitoring_has_the_alarms_of_what_users_miss_and_those_that_take_a_new_version_back():
    left = {"ToolFailures", "ApiErrors", "McpHttpErrors", "Heartbeat", "DeadLetters", "LoadFailed"}
    left |= {"Corpus1SyncAge", "RetractionsSyncAge", "NoticesSyncAge"}
    left |= {f"SearchDomain{each}" for each in ("Red", "Blocked", "Space")}
    assert ringing("basic") == {f"{each}Alarm" for each in left}
    assert ringing("full") == ALARMS.keys() - {"Corpus2SyncAgeAlarm", "Corpus3SyncAgeAlarm"}
    assert TEMPLATE["Resources"]["Dashboard"]["Condition"] == "WatchesAll"
    assert PARAMETERS["Monitoring"]["Default"] == "full"


def test_everything_that_must_be_watched_is_and_nothing_else():
    assert watched() == MUST
    assert len(list(metrics())) == len(MUST)


RUNBOOK = (Path(__file__).parents[1] / "docs/runbook.md").read_text().split("\n## Alarms\n")[1].split("\n## ")[0]
SECTIONS = {  # anchor -> the alarms that the section is of
    title.lower().replace(" ", "-"): re.findall(r"`([\w*]+Alarm)`", rest.partition(":")[0])
    for title, _, rest in (each.partition("\n") for each in RUNBOOK.split("\n### ")[1:])
}


@pytest.mark.parametrize("name", ALARMS)
def test_an_alarm_names_its_section_of_the_runbook(name):
    said, _, anchor = text(ALARMS[name]["AlarmDescription"]).rpartition(". docs/runbook.md#")
    assert said
    assert [each for each in SECTIONS[anchor] if fnmatchcase(name, each)]


@pytest.mark.parametrize("anchor", SECTIONS)
def test_a_section_of_alarms_is_of_such_as_there_are(anchor):
    whose = [name for name, each in ALARMS.items() if text(each["AlarmDescription"]).endswith(f"#{anchor}")]
    assert whose
    assert all(any(fnmatchcase(name, each) for name in ALARMS) for each in SECTIONS[anchor])


@pytest.mark.parametrize("name", ALARMS)
def test_an_alarm_says_what_is_wrong_and_tells_whoever_is_named(name):
    alarm = ALARMS[name]
    assert len(text(alarm["AlarmDescription"])) > 15
    assert alarm["AlarmActions"] == {"Fn::If": ["HasTopic", [{"Ref": "AlarmTopicArn"}], {"Ref": "AWS::NoValue"}]}


@pytest.mark.parametrize(
    "function", [name for name, (id, _) in FUNCTIONS.items() if id not in FILL_THEIR_TIME | OTHERWISE]
)
def test_an_alarm_rings_before_a_function_times_out_but_not_while_it_may_still_work(function):
    [alarm] = [each for each in ALARMS.values() if each.get("MetricName") == "Duration" and uses(each, function)]
    longest = max([each.timeout for each in OFFERED if each.lambda_module == function] or [25]) * 1000
    assert longest <= alarm["Threshold"] < timeout_ms(function)


def uses(alarm, function):
    return text(dimension(alarm)) == FUNCTIONS[function][0]


@pytest.mark.parametrize("synced", ["Corpus1", "Corpus2", "Corpus3", "Retractions", "Notices"])
def test_a_sync_is_late_when_its_hours_pass_without_a_complete_one(synced):
    alarm = ALARMS[f"{synced}SyncAgeAlarm"]
    assert alarm["Period"] == 3600
    assert alarm["EvaluationPeriods"] == {"Ref": "SyncAgeHours"}
    assert (alarm["Statistic"], alarm["Threshold"], alarm["ComparisonOperator"]) == ("Sum", 1, "LessThanThreshold")
    assert alarm["TreatMissingData"] == "breaching"
    assert PARAMETERS["SyncAgeHours"]["MaxValue"] * 3600 <= 7 * 86_400  # what CloudWatch looks back at most


def matches(pattern, line):
    """Whether CloudWatch's `{ ($.a = "x") && ($.b != "y") }` fits a line of JSON."""
    terms = re.findall(r'\(\$\.(\w+) (=|!=) "([^"]*)"\)', pattern)
    assert pattern == "{ " + " && ".join(f'($.{name} {sign} "{value}")' for name, sign, value in terms) + " }"
    return all((line.get(name) == value) == (sign == "=") for name, sign, value in terms)


def logged(act):
    written = io.StringIO()
    logger = tool_function.log_as_json()
    before = [(handler, handler.setStream(written)) for handler in logger.handlers]
    try:
        act()
    finally:
        for handler, stream in before:
            handler.setStream(stream)
    return [json.loads(line) for line in written.getvalue().splitlines()]


class Broken:
    def __init__(self, failure):
        self._failure = failure

    def __getattr__(self, name):
        if name in vars(Backends):
            raise self._failure
        raise AttributeError(name)


def calls_that_fail():
    def failing(failure):
        return lambda: call(TOOLS["rag.get"], {"doc_id": "pmid:1"}, Broken(failure))

    kinds = {kind: code for kind, code in BIO_MCP.items() if kind is not Failure}
    return [
        (failing(kind("no")), code, not issubclass(kind, InvalidInput | NotFound | BudgetSpent))
        for kind, code in kinds.items()
    ]


@pytest.mark.parametrize(("act", "code", "ours"), calls_that_fail(), ids=lambda each: getattr(each, "__name__", each))
def test_the_log_of_a_failed_call_is_counted_unless_the_caller_erred(act, code, ours):
    [line] = [each for each in logged(act) if each["message"] == "call"]
    assert line["code"] == code
    pattern = FILTERS["GetDocFailuresMetric"]["FilterPattern"]
    assert matches(pattern, line) == (ours and code != "VALIDATION")


def test_a_sync_that_came_to_its_end_is_counted_for_its_corpus(tmp_path, ncbi):
    [one, *_] = ncbi.control.pmids()
    arguments = {"query_key": "statins", "term": f"{one}[uid]"}
    with Corpus(tmp_path, ncbi.base_url) as corpus:
        lines = logged(lambda: call(TOOLS["pubmed.sync_delta"], arguments, corpus))
    complete = counting_syncs("Corpus1", "statins")
    [line] = [each for each in lines if matches(complete, each)]
    assert line["query_key"] == "statins"
    assert not matches(complete, {**line, "state": "continues"})


def counting_syncs(name, key=""):
    counted = FILTERS[f"{name}CompleteSyncsMetric"]
    [metric] = counted["MetricTransformations"]
    assert metric["Dimensions"] == [{"Key": "query_key", "Value": "$.query_key"}]
    return rendered(counted["FilterPattern"], {f"{name}Key": key})


@pytest.mark.parametrize("name", ["Corpus1", "Corpus2", "Corpus3", "Retractions", "Notices"])
def test_a_key_that_a_client_made_up_becomes_no_metric(name):
    own = {"Retractions": queries.RETRACTIONS_KEY, "Notices": notices.QUERY_KEY}.get(name, "own")
    complete = {"message": "synced", "state": "complete"}
    assert matches(counting_syncs(name, "own"), {**complete, "query_key": own})
    assert not matches(counting_syncs(name, "own"), {**complete, "query_key": "made-up"})


def test_a_call_that_the_gateway_throttled_is_counted_by_its_access_log():
    stage, counted = of("AWS::ApiGatewayV2::Stage")["ApiStage"], FILTERS["ApiThrottledMetric"]
    assert counted["LogGroupName"]["Ref"] == stage["AccessLogSettings"]["DestinationArn"]["Fn::GetAtt"].split(".")[0]
    line = json.loads(stage["AccessLogSettings"]["Format"].replace("$context.status", "429"))
    assert counted["FilterPattern"] == '{ $.status = "429" }'
    assert line["status"] == "429"


def test_failures_are_counted_in_the_log_of_every_function_that_runs_tools():
    counted = {each["LogGroupName"]["Ref"]: each["FilterPattern"] for each in FILTERS.values()}
    logs = {FUNCTIONS[module][1]["LoggingConfig"]["LogGroup"]["Ref"] for module in SERVING}
    counting = [
        each for each in FILTERS.values() if text(each["MetricTransformations"][0]["MetricName"]) == "ToolFailures"
    ]
    assert {each["LogGroupName"]["Ref"] for each in counting} == logs <= set(counted)
    assert len({each["FilterPattern"] for each in counting}) == 1

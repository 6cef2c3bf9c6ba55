"""What of template.yaml follows from the functions is rendered, for a new function too."""

import sys

import pytest

from bio_mcp import tools
from bio_mcp.catalog import LISTED, MODULES, TOOLS, modules_of_tools
from scripts.docs import ROOT
from scripts.port_grants import INDEX, MODEL, MODEL_BEHIND, PROFILE, Given, given_for
from scripts.template.__main__ import files, filled, main, rendered
from scripts.template.functions import Function, declared, functions
from tests.support import aws_template
from tests.support.aws_tables import read
from tests.support.aws_template import SERVING, allowed_by, documents_of, text
from tests.support.aws_template import rendered as rendered_by_cloudformation
from tests.support.touched_ports import needed

TEMPLATE = (ROOT / "template.yaml").read_text()


@pytest.fixture(scope="module")
def given():
    return functions(needed)


def test_the_same_is_rendered_each_time(given):
    once = rendered(TEMPLATE, given)
    assert rendered(once, functions(needed)) == once


def test_a_function_is_rendered_for_each_module_of_tools_and_the_endpoint_last(given):
    assert [each.name for each in given] == [*SERVING, "authorize", "console", "heartbeat", "load", "mcp_http"]
    assert [each.name for each in given if each.is_endpoint] == ["mcp_http"]


NOBODYS = "000000000000.dkr.ecr.us-east-1.amazonaws.com/none:1"
WRITER = Function("writer", (TOOLS["rag.get"],), given_for(["language_model.generate"]))


def test_a_model_is_asked_where_one_is_named_and_that_of_another_region_by_its_inference_profile(given):
    roles = read(rendered(TEMPLATE, [WRITER, *given]))["Resources"]
    [policy] = roles["WriterRole"]["Properties"]["Policies"]
    asking = [each["Fn::If"] for each in policy["PolicyDocument"]["Statement"] if "Fn::If" in each]
    assert {(condition, str(nothing)) for condition, _, nothing in asking} == {
        ("AsksBedrock", str({"Ref": "AWS::NoValue"}))
    }
    assert allowed_by([{"Statement": [each for _, each, _ in asking]}]) == MODEL
    [behind] = [each for _, each, _ in asking if "Condition" in each]
    assert text(behind["Resource"]) == MODEL_BEHIND
    assert text(behind["Condition"]["StringEquals"]["bedrock:InferenceProfileArn"]) == PROFILE
    named = {"LanguageModel": "none"}
    assert not rendered_by_cloudformation({"Condition": "AsksBedrock"}, named)


NOTES = Function("my_notes", (TOOLS["rag.get"],), given_for(["documents.get", "passages.count"]))


@pytest.fixture(scope="module")
def grown(given):
    made = read(rendered(TEMPLATE, [NOTES, *given]))
    return made["Resources"], made["Outputs"]


def test_a_new_function_has_all_that_a_function_has(grown):
    parts = {"Logs", "Role", "Function", "FailuresMetric", "ErrorsAlarm", "ThrottlesAlarm", "DurationAlarm"}
    assert {f"MyNotes{each}" for each in parts} == {name for name in grown[0] if name.startswith("MyNotes")}


def test_a_new_function_may_do_what_its_tools_need_on_the_index_too(grown):
    resources, outputs = grown
    may = allowed_by(documents_of(resources["MyNotesRole"]["Properties"], resources))
    logs = {(f"logs:{each}", "MyNotesLogs.Arn") for each in ("CreateLogStream", "PutLogEvents")}
    assert may == NOTES.grants | logs
    assert set(resources["MyNotesFunction"]["Properties"]["Environment"]["Variables"]) == NOTES.ports.variables
    assert {path for action, path in may if action == "es:ESHttpGet"} == set(INDEX)
    assert outputs["MyNotesRoleArn"]["Value"] == {"Fn::GetAtt": "MyNotesRole.Arn"}


def test_the_endpoint_calls_a_new_function_and_the_dashboard_shows_it(grown):
    resources, _ = grown
    called = allowed_by(documents_of(resources["McpHttpRole"]["Properties"], resources))
    assert ("lambda:InvokeFunction", "MyNotesFunction.Arn") in called
    reported = text(resources["McpHttpFunction"]["Properties"]["Environment"]["Variables"]["BIO_MCP_FUNCTIONS"])
    assert reported.startswith("my_notes=${MyNotesFunction},search=")
    shown = text(resources["Dashboard"]["Properties"]["DashboardBody"])
    assert shown.count('"${AWS::StackName}-my_notes"') == shown.count('"${AWS::StackName}-mcp_http"') == 3


READER = Function(
    "reader",
    (TOOLS["rag.get"],),
    given_for(["documents.get", "continuations.send"], "ReaderQueue"),
    {
        "queue": "ReaderQueue",
        "image": "ReaderImageUri",
        "properties": {"Events": {"Work": {"Type": "SQS", "Properties": {"Queue": "!GetAtt ReaderQueue.Arn"}}}},
    },
)


@pytest.fixture(scope="module")
def either(given):
    return read(rendered(TEMPLATE, [READER, *given]))["Resources"]


def test_an_image_takes_the_place_of_a_functions_code_where_there_is_one(either):
    code, image = either["ReaderFunction"], either["ReaderImageFunction"]
    assert (code["Condition"], image["Condition"]) == ("WithoutReaderImageUri", "WithReaderImageUri")
    given = {"Fn::If": ["WithReaderImageUri", {"Ref": "ReaderImageUri"}, NOBODYS]}
    assert image["Properties"]["Code"] == {"ImageUri": given}
    for name in ("Description", "Role", "Timeout", "MemorySize"):
        assert image["Properties"][name] == code["Properties"][name]
    assert image["Properties"]["FunctionName"] != code["Properties"]["FunctionName"]  # for a while there are both
    fed, [work] = either["ReaderImageFunctionWork"], code["Properties"]["Events"].values()
    assert fed["Condition"] == "WithReaderImageUri"
    assert fed["Properties"]["FunctionName"] == {"Ref": "ReaderImageFunction"}
    assert fed["Properties"]["EventSourceArn"] == work["Properties"]["Queue"]


def test_an_image_has_what_the_template_gives_to_every_function(either):
    image, everyones = either["ReaderImageFunction"]["Properties"], aws_template.TEMPLATE["Globals"]["Function"]
    code = either["ReaderFunction"]["Properties"]
    more = everyones["Environment"]["Variables"]
    assert image["Environment"]["Variables"] == more | code["Environment"]["Variables"]
    assert image["LoggingConfig"] == everyones["LoggingConfig"] | code["LoggingConfig"]
    assert image["Architectures"] == everyones["Architectures"]
    assert image["TracingConfig"] == {"Mode": everyones["Tracing"]}


def test_a_function_sends_its_continuations_to_its_own_queue(either):
    may = allowed_by(documents_of(either["ReaderRole"]["Properties"], either))
    assert ("sqs:SendMessage", "ReaderQueue.Arn") in may
    assert {resource for action, resource in may if action.startswith("sqs:")} == {"ReaderQueue.Arn"}
    assert either["ReaderFunction"]["Properties"]["Environment"]["Variables"]["BIO_MCP_QUEUE_URL"] == {
        "Ref": "ReaderQueue"
    }


def test_the_endpoint_calls_whichever_of_the_two_there_is_and_the_alarms_watch_it(either):
    chosen = {"Fn::If": ["WithoutReaderImageUri", {"Ref": "ReaderFunction"}, {"Ref": "ReaderImageFunction"}]}
    served, more = either["McpHttpFunction"]["Properties"]["Environment"]["Variables"]["BIO_MCP_FUNCTIONS"]["Fn::Sub"]
    assert (served.partition(",")[0], more["Reader"]) == ("reader=${Reader}", chosen)
    called = str(either["McpHttpRole"]["Properties"]["Policies"])
    assert "ReaderImageFunction.Arn" in called
    [dimension] = either["ReaderErrorsAlarm"]["Properties"]["Dimensions"]
    assert dimension["Value"] == chosen
    assert text(either["Dashboard"]["Properties"]["DashboardBody"]).count("${AWS::StackName}-reader_image") == 3


def test_sam_deploy_asks_nobody_for_a_repository_of_images(either):
    """It does so for each function whose package type it reads as Image, whatever its condition."""
    assert "Image" not in [each.get("Properties", {}).get("PackageType") for each in either.values()]
    kind = either["ReaderImageFunction"]["Properties"]["PackageType"]
    assert rendered_by_cloudformation(kind, {}) == "Image"


def test_a_function_without_a_declaration_has_time_for_its_tool_and_is_watched_before_that_ends():
    plain = Function("plain", (TOOLS["rag.search"],), given_for(["documents.get"]))
    model = Function("model", (TOOLS["rag.search"],), given_for(["embeddings.embed"]))
    assert (plain.description, plain.timeout_s, plain.memory_mb, plain.alarm_ms) == ("rag.search", 13, 512, 10_400)
    assert (model.memory_mb, model.layers) == (1769, ("CommonLayer", "InferenceLayer"))


def test_a_new_module_gets_an_entry_point(tmp_path, monkeypatch):
    (tmp_path / "app.py").write_text(files([Function("get_doc", (TOOLS["rag.get"],))])["functions/get_doc/app.py"])
    monkeypatch.syspath_prepend(tmp_path)
    import app

    assert callable(app.handler)
    del sys.modules["app"]


def test_a_key_that_nothing_reads_is_named(tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/function.toml").write_text("timeout = 3\n")
    with pytest.raises(LookupError, match=r"functions/notes/function.toml: nothing reads timeout"):
        declared("notes", tmp_path)


def test_what_no_row_says_is_reported_and_nothing_is_written(capsys):
    assert main([], lambda _: given_for(["documents.rename"])) == 1
    assert capsys.readouterr().err.startswith("scripts/port_grants.py does not say what documents.rename takes")
    assert main([], lambda _: Given(frozenset({"BIO_MCP_NEW"}))) == 1
    assert "resources.py: BIO_MCP_NEW" in capsys.readouterr().err


def test_what_is_not_between_markers_stays_and_without_markers_there_is_an_error():
    marked = "a: 1\n# <x> told\nold: 1\n# </x>\nb: 2\n"
    assert filled(marked, "x", "new: 1\n") == "a: 1\n# <x> told\nnew: 1\n# </x>\nb: 2\n"
    with pytest.raises(ValueError, match="no markers # <functions>"):
        filled("Resources:\n", "functions", "")


# ---- the catalogue ----


def test_every_module_that_declares_a_tool_is_in_the_catalogue_and_those_that_are_listed_are_there():
    assert modules_of_tools(tools) == MODULES
    assert [each.__name__.rpartition(".")[2] for each in MODULES][: len(LISTED)] == list(LISTED)


def test_a_module_that_is_put_beside_the_others_is_found_after_them(tmp_path, monkeypatch):
    for name, source in {"__init__": "", "helper": "A = 1\n", "search": DECLARING, "aardvark": DECLARING}.items():
        (tmp_path / "own_tools").mkdir(exist_ok=True)
        (tmp_path / f"own_tools/{name}.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    import own_tools

    assert [each.__name__ for each in modules_of_tools(own_tools)] == ["own_tools.search", "own_tools.aardvark"]


DECLARING = '''
from bio_mcp.ports import Backends
from bio_mcp.tool import Request, Response, tool
from bio_mcp.tools.fields import BIO_MCP


@tool("corpus.nothing", family=BIO_MCP, scope="read", timeout=1)
def nothing(request: Request, backends: Backends) -> Response:
    """Do nothing."""
    return Response()
'''

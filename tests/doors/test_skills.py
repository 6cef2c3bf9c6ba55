"""The skills extension (SEP-2640) over real HTTP, and the tasks of agents, with a skill and without, played by the
official client."""

import hashlib

import pytest
import yaml

from bio_mcp.skills import NAMES, skill
from tests.doors.wire import HANDSHAKES, MODERN, post
from tests.support.agent import tasks_of
from tests.support.agent_tasks import GROUPS, make_home, played
from tests.support.named_tools import calls

ADDRESSES = [f"skill://{name}/SKILL.md" for name in NAMES]
VERSIONS = [MODERN, HANDSHAKES[-1]]
each_version = pytest.mark.parametrize("version", VERSIONS)


def result(url, method, params=None, version=MODERN):
    return post(url, method, params, version).json()["result"]


def error(url, method, params):
    return post(url, method, params).json()["error"]


def test_the_extension_is_declared(url):
    declared = result(url, "server/discover")["capabilities"]
    assert declared["extensions"]["io.modelcontextprotocol/skills"] == {}
    assert {"resources", "prompts", "completions"} <= declared.keys()


@each_version
def test_each_skill_is_listed_with_its_front_matter_and_the_digest_of_the_file_that_is_read(url, version):
    listed = result(url, "skills/list", {}, version)
    assert (listed["resultType"], listed["cacheScope"]) == ("complete", "public")
    assert [each["uri"] for each in listed["skills"]] == ADDRESSES
    for entry in listed["skills"]:
        [content] = result(url, "resources/read", {"uri": entry["uri"]}, version)["contents"]
        file = content["text"].encode()
        digest = f"sha256:{hashlib.sha256(file).hexdigest()}"
        assert entry["resources"] == [{"uri": entry["uri"], "digest": digest, "size": len(file)}]
        assert entry["frontmatter"] == yaml.safe_load(content["text"].split("---\n")[1])
        assert content["mimeType"] == "text/markdown"


@each_version
def test_one_skill_is_had_by_its_address(url, version):
    listed = result(url, "skills/list", {}, version)["skills"]
    had = [result(url, "skills/get", {"uri": uri}, version) for uri in ADDRESSES]
    assert [each["skill"] for each in had] == listed
    assert {each["resultType"] for each in had} == {"complete"}
    assert all(each["ttlMs"] > 0 for each in had)


@each_version
def test_skills_are_among_the_resources(url, version):
    listed = result(url, "resources/list", {}, version)["resources"]
    by_uri = {each["uri"]: each for each in listed}
    assert list(by_uri) == ["sample://info", *ADDRESSES]
    for name, uri in zip(NAMES, ADDRESSES, strict=True):
        assert (by_uri[uri]["name"], by_uri[uri]["mimeType"]) == (name, "text/markdown")
        assert by_uri[uri]["description"] == skill(name).front_matter["description"]


@pytest.mark.parametrize(
    ("method", "uri"),
    [
        ("skills/get", "skill://nothing/SKILL.md"),
        ("skills/get", "skill://check-references"),
        ("skills/get", "skill://check-references/../SKILL.md"),
        ("skills/get", "sample://info"),
        ("resources/read", "skill://check-references"),
        ("resources/read", "skill://check-references/LICENSE"),
        ("resources/read", "skill://check-references/SKILL.mdSKILL.md"),
    ],
)
def test_what_is_not_served_is_an_error_of_its_parameters(url, method, uri):
    assert error(url, method, {"uri": uri})["code"] == -32602


def test_what_is_not_served_is_named_in_few_characters(url):
    failure = error(url, "skills/get", {"uri": "skill://" + "x" * 5_000})
    assert len(failure["message"]) < 300
    assert failure["data"]["available"] == ADDRESSES


ALL = [(group, number) for group in GROUPS for number in range(len(tasks_of(group)))]
each_skill = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(scope="module")
def home(tmp_path_factory, ncbi_process):
    made = tmp_path_factory.mktemp("tasks") / "corpus"
    make_home(made, ncbi_process)
    return made


@pytest.mark.anyio
@pytest.mark.parametrize(("group", "number"), ALL, ids=[f"{group}-{number}" for group, number in ALL])
async def test_a_task_is_done_by_an_agent_that_reads_what_is_listed_and_answered(
    home, ncbi, scholarly, tmp_path, group, number
):
    did = await played(group, number, home, tmp_path, ncbi, scholarly)
    assert did.wrong == ""


def test_there_are_forty_tasks():
    assert len({tasks_of(group)[number]["asks"] for group, number in ALL}) == len(ALL) >= 40


@each_skill
def test_a_skill_has_five_tasks_that_take_several_steps(name):
    tasks = tasks_of(name)
    assert len(tasks) >= 5
    assert len({each["asks"] for each in tasks}) == len(tasks)
    assert all(step["finds"] for each in tasks for step in each["steps"])
    assert sum(len(each["steps"]) > 1 for each in tasks) >= 4


@each_skill
def test_a_task_calls_what_its_skill_names_and_all_that_it_names_is_called(name):
    named: dict[str, set[str]] = {}
    for tool, arguments in calls(skill(name).text):
        named.setdefault(tool, set()).update(arguments)
    steps = [step for each in tasks_of(name) for step in each["steps"]]
    assert {step["call"] for step in steps} == named.keys()
    strange = [
        (step["call"], each) for step in steps for each in step.get("arguments", {}) if each not in named[step["call"]]
    ]
    assert strange == []

"""Each skill's tasks, played by the official client over real records, a local NCBI and the product's own server."""

import shutil
from datetime import date, timedelta
from itertools import islice

import pytest
from mcp.client import Client

from bio_mcp.call import call
from bio_mcp.catalog import RESOURCES, TOOLS
from bio_mcp.doors.mcp import server as mcp_server
from bio_mcp.skills import NAMES, skill
from bio_mcp.syncing.applying import apply_records
from bio_mcp.syncing.importing import import_records
from tests.answering.ginger import GINGER, OTHERS
from tests.doors.command_line import sample
from tests.support.corpus import Corpus
from tests.support.named_tools import calls
from tests.support.retracting import retract
from tests.support.sample_project import add_project
from tests.support.scholarly_server.shapes import crossref_work, epmc_record, icite_paper, link, update
from tests.support.skill_tasks import play, tasks_of

RECORDS, FOLLOWED_TO = 60, date(2021, 6, 5)
ALL = [(name, number) for name in NAMES for number in range(len(tasks_of(name)))]
each_skill = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(scope="module")
def home(tmp_path_factory, ncbi_process):
    """A corpus of some records, a project and a query followed until a day, for every task to have a copy of."""
    made = tmp_path_factory.mktemp("tasks") / "corpus"
    ncbi_process.control.set_today(f"{FOLLOWED_TO:%Y/%m/%d}")
    with Corpus(made, ncbi_process.base_url, FOLLOWED_TO) as corpus:
        apply_records([*GINGER, *OTHERS], corpus)
        import_records(islice(sample(), RECORDS), corpus)
        add_project(corpus)
        assert call(TOOLS["pubmed.sync_delta"], {"query_key": "kidney", "term": "kidney"}, corpus).body["inserted"]
    ncbi_process.control.reset()
    return made


def furnish(scholarly):
    """Let the services beside NCBI know what the tasks ask of them."""
    of_aspirin = {"title": "Aspirin and mortality in COVID-19: a preprint"}
    scholarly.records = [epmc_record("PPR", "PPR100", link("Preprint of", "MED", "34000418"), **of_aspirin)]
    scholarly.works = {"10.1000/withdrawn": crossref_work("10.1000/withdrawn", update("retraction"))}
    scholarly.papers = {"32382406": icite_paper(32382406, references=[34000418, 34089508], cited_by=[34095165])}


@pytest.mark.anyio
@pytest.mark.parametrize(("name", "number"), ALL, ids=[f"{name}-{number}" for name, number in ALL])
async def test_a_task_is_done_in_the_steps_of_its_skill(home, ncbi, scholarly, tmp_path, name, number):
    shutil.copytree(home, tmp_path / "corpus")
    furnish(scholarly)
    task = tasks_of(name)[number]
    for fault in task.get("faults", []):
        ncbi.control.fault(**fault)
    for pmid in task.get("retracts", []):
        retract(ncbi, pmid, f"{FOLLOWED_TO + timedelta(days=2):%Y/%m/%d}")
    with Corpus(tmp_path / "corpus", ncbi.base_url, **scholarly.settings) as corpus:
        server = mcp_server.server(TOOLS.values(), RESOURCES.values(), mcp_server.in_process(corpus))
        async with Client(server) as client:
            await play(task, client)


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

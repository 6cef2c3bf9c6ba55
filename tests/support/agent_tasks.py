"""The tasks of agents: what each finds when it begins, and how it is played by the official client."""

import shutil
from collections.abc import Sequence
from datetime import date, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from mcp.client import Client

from bio_mcp.call import call
from bio_mcp.catalog import RESOURCES, TOOLS
from bio_mcp.doors.mcp import server as mcp_server
from bio_mcp.doors.running import in_process
from bio_mcp.ports.projects import ProjectDocument
from bio_mcp.settings import words_of
from bio_mcp.skills import NAMES, skill
from bio_mcp.syncing.applying import apply_records
from tests.answering.ginger import AGAIN, GINGER, OTHERS
from tests.doors.command_line import sample
from tests.support.agent import WITHOUT_A_SKILL, Played, Task, play, tasks_of
from tests.support.corpus import Corpus
from tests.support.named_tools import calls
from tests.support.retracting import retract
from tests.support.sample_project import NEWBORNS, PROJECT, TEXTS, add_project
from tests.support.scholarly_server.shapes import crossref_work, epmc_record, icite_paper, link, update

RECORDS, FOLLOWED_TO = 60, date(2021, 6, 5)
GROUPS = (*NAMES, WITHOUT_A_SKILL)
DOCUMENTS = {
    "knee.md": "# Turmeric in the knee\n\n## Methods\n\nThe daily dose of turmeric was 500 mg for twelve weeks.\n",
    "hand.md": "# Hands at work\n\n## Results\n\nGrip was stronger after a month of exercise with a rubber ball.\n",
}


def make_home(folder: Path, ncbi: Any) -> None:
    """A corpus of some records, a project and a query followed until a day, for every task to have a copy of."""
    ncbi.control.set_today(f"{FOLLOWED_TO:%Y/%m/%d}")
    with Corpus(folder, ncbi.base_url, FOLLOWED_TO) as corpus:
        apply_records([*GINGER, AGAIN, *OTHERS], corpus)
        apply_records(islice(sample(), RECORDS), corpus)
        add_project(corpus)
        known = ProjectDocument(NEWBORNS, frozenset({NEWBORNS.doc_id}), chunks=len(TEXTS))
        corpus.project_documents.put(PROJECT, known)
        assert call(TOOLS["pubmed.sync_delta"], {"query_key": "kidney", "term": "kidney"}, corpus).body["inserted"]
    ncbi.control.reset()


def furnish(scholarly: Any) -> None:
    """Let the services beside NCBI know what the tasks ask of them."""
    of_aspirin = {"title": "Aspirin and mortality in COVID-19: a preprint"}
    scholarly.records = [epmc_record("PPR", "PPR100", link("Preprint of", "MED", "34000418"), **of_aspirin)]
    scholarly.works = {"10.1000/withdrawn": crossref_work("10.1000/withdrawn", update("retraction"))}
    scholarly.papers = {"32382406": icite_paper(32382406, references=[34000418, 34089508], cited_by=[34095165])}


def listed_for(group: str, task: Task) -> Sequence[str]:
    """The tools that the client asks for: as the task says, else the default list with what its skill names."""
    if group == WITHOUT_A_SKILL:
        return words_of(task.get("lists", "default"))
    return ["default", *dict.fromkeys(tool for tool, _ in calls(skill(group).text))]


async def played(group: str, number: int, home: Path, folder: Path, ncbi: Any, scholarly: Any) -> Played:
    """Play a task in `folder`, over a copy of `home`, by the official client."""
    task = tasks_of(group)[number]
    furnish(scholarly)
    if not task.get("empty"):
        shutil.copytree(home, folder / "corpus")
    (folder / "documents").mkdir(parents=True)
    for name, text in DOCUMENTS.items():
        (folder / "documents" / name).write_text(text)
    for fault in task.get("faults", []):
        ncbi.control.fault(**fault)
    for pmid in task.get("retracts", []):
        retract(ncbi, pmid, f"{FOLLOWED_TO + timedelta(days=2):%Y/%m/%d}")
    with Corpus(folder / "corpus", ncbi.base_url, **scholarly.settings) as corpus:
        invoke = in_process(corpus, local=True)
        server = mcp_server.server(TOOLS.values(), RESOURCES.values(), invoke, listed=listed_for(group, task))
        async with Client(server) as client:
            return await play(task, client, {"documents": str(folder / "documents")})

"""No record is lost between the searches and the export, whatever is done in between and in which order: after each
step every record is somewhere, once, and the numbers of the flow diagram add up."""

import csv
import io
import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from zlib import crc32

import pytest

from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.projects import SqliteScreenings
from bio_mcp.adapters.embedded.sync_state import SqliteLeases
from bio_mcp.deadline import NEVER
from bio_mcp.exporting.formats import FORMATS
from bio_mcp.exporting.selecting import Selection
from bio_mcp.screening.collecting import BY_HAND, collect, import_records, search_pubmed, split
from bio_mcp.screening.prisma import flow, prisma_svg
from bio_mcp.screening.reviews import STAGES, Decided, create_review, decide, review_of
from tests.adapters.clocks import Clock
from tests.support.memory_corpus import Corpus, article
from tests.support.sample_corpus import TheseRecords

NAME = "statins"
STEPS = 70
PAPERS = [
    article(str(at), f"Statins in heart failure, trial {at} of many", year=2000 + at % 20, doi=f"10.1000/{at}")
    for at in range(1, 40)
]
ABSENT = [str(at) for at in range(900, 903)]  # that PubMed lists and does not deliver


class ListsMore(TheseRecords):
    """PubMed that finds by the number in a term, and lists records that it does not have."""

    def esearch(self, term, **options):
        page = super().esearch(term, **options)
        some = [each for each in page.ids if int(each) % int(term[-1]) == 0] + ABSENT[: int(term[-1]) - 2]
        return type(page)(len(some), tuple(some), term)


@pytest.fixture
def stores(tmp_path):
    """The ports of reviews and leases, by SQLite; tests/all has them by DynamoDB."""
    database, clock = Database(tmp_path), Clock(1_000_000.0)
    yield SqliteScreenings(database), SqliteLeases(database, clock)
    database.close()


@pytest.fixture
def backends(stores):
    made = Corpus(*PAPERS[:10])
    made.pubmed = ListsMore(PAPERS)
    made.audit = SimpleNamespace(record=lambda *_, **__: None)
    made.day = datetime(2026, 1, 1, tzinfo=UTC)
    made.now = lambda: made.day
    made.screenings, made.leases = stores
    return made


def exported_file(chance, number):
    """An export of some papers: with a PMID, a DOI or neither, some of them twice, and an entry that states nothing."""
    rows = io.StringIO()
    table = csv.writer(rows)
    table.writerow(["Title", "Authors", "Source title", "Year", "Volume", "Page start", "DOI", "PubMed ID", "Abstract"])
    for at in chance.choices(range(1, 60), k=8):
        doi, pmid = (f"10.1000/{at}" if chance.random() < 0.6 else ""), (str(at) if chance.random() < 0.4 else "")
        title = f"Statins in heart failure, trial {at} of many"
        table.writerow([title, "Doe, J.", "Lancet", 2000 + at % 20, at, 10 * at, doi, pmid, f"Export {number}"])
    for _ in range(chance.randrange(2)):
        table.writerow(["", "", "", "2020", "", "", "", "", ""])
    return rows.getvalue().encode()


def do_something(chance, backends, files):
    """One step of a history; returns what it was."""
    what = chance.choice("pubmed hand import again label label label label undo resolve unresolve split day".split())
    match what:
        case "pubmed":
            search_pubmed(NAME, f"every {chance.choice((2, 3, 5))}", backends, NEVER)
        case "hand":
            collect(NAME, [str(each) for each in chance.sample(range(1, 40), 2)], BY_HAND, backends, NEVER)
        case "import":
            files.append(exported_file(chance, len(files)))
            import_records(NAME, files[-1], backends, file=f"{len(files)}.csv", database=chance.choice(["Embase", ""]))
        case "again" if files:
            import_records(NAME, chance.choice(files), backends, file="again.csv")
        case "day":
            backends.day += timedelta(days=chance.randrange(1, 90))
        case _:
            screen(what, chance, backends)
    return what


def screen(what, chance, backends):
    review, stage = review_of(NAME, backends.screenings), chance.choice(list(STAGES))
    eligible = review.eligible(stage)
    differ = [name for name, each in review.outcomes[stage].items() if each.state == "conflict" or each.resolved]
    match what:
        case "label":
            made = [decided(each, chance) for each in chance.sample(eligible, min(len(eligible), 20))]
            decide(review, stage, made, chance.choice(["ann", "bob"]), backends)
        case "undo":
            made = [Decided(each, "none") for each in chance.sample(eligible, min(len(eligible), 5))]
            decide(review, stage, made, chance.choice(["ann", "bob"]), backends)
        case "resolve":
            made = [Decided(each, chance.choice(["include", "exclude"])) for each in differ[:5]]
            decide(review, stage, made, "cem", backends, resolves=True)
        case "unresolve":
            made = [Decided(each, "none") for each in differ[:5]]
            decide(review, stage, made, "cem", backends, resolves=True)
        case "split" if review.merges:
            split(review, chance.choice(review.merges).merge_id, backends)


def decided(record_id, chance):
    """What a screener decides, in four of five cases as any other would."""
    agreed = [("include", None), ("include", None), ("exclude", "wrong population"), ("exclude", "not retrieved")]
    others = [("include", None), ("exclude", None), ("maybe", "a subgroup?")]
    return Decided(
        record_id, *(agreed[crc32(record_id.encode()) % 4] if chance.random() < 0.8 else chance.choice(others))
    )


def check(backends):
    """Every record is somewhere, once; returns the flow."""
    review, searches = review_of(NAME, backends.screenings), backends.screenings.searches(NAME)
    found = flow(review, searches)
    records = len(review.records)
    assert len(review.by_id) == records
    assert {each for search in searches for each in search.record_ids} == set(review.by_id)
    assert found.identified - found.duplicates_removed - found.not_delivered == records
    assert found.screened + found.undecided == records
    assert found.screened == found.excluded + found.sought
    assert found.sought == found.not_retrieved + found.assessed + found.unassessed
    assert found.assessed == found.included + sum(count for _, count in found.excluded_by_reason)
    assert min(found.duplicates_removed, found.not_delivered, found.unassessed, found.undecided) >= 0
    for stage in STAGES:
        states = Counter(review.outcome(stage, each).state for each in review.eligible(stage))
        names = set(review.eligible(stage))
        assert states["include"] + states["exclude"] == len(names & review.settled(stage).keys())
        assert states.total() == len(review.eligible(stage))
        assert set(review.conflicts(stage)).isdisjoint(review.decisions(stage))
    for merge in review.merges:
        [search] = [each for each in searches if each.search_id == merge.search_id]
        assert merge.into in search.record_ids
    return found


def exported(backends):
    """The rows of the exported file."""
    selection = Selection(backends, NEVER, review=NAME)
    records = selection.records(selection.names())
    form = FORMATS["csv"]
    return list(csv.DictReader(io.StringIO(form.head + "".join(map(form.render, records.values())))))


def test_a_random_history_adds_up_after_each_step_and_in_the_export(backends):
    chance = random.Random(7)  # noqa: S311  no secret
    create_review(NAME, backends)
    files, done = [], Counter()
    for _ in range(STEPS):
        done[do_something(chance, backends, files)] += 1
        found = check(backends)
    assert len(done) == 10  # each kind of step was taken
    assert found.duplicates_removed
    assert found.included
    assert backends.screenings.merges(NAME)
    review, rows = review_of(NAME, backends.screenings), exported(backends)
    assert len(rows) == len(review.records) == found.identified - found.duplicates_removed - found.not_delivered
    final = [each for record in review.records if (each := review.final(record.record_id))]
    assert sum(each.stage == "full_text" and each.decision == "include" for each in final) == found.included
    assert Counter(row["decision"] for row in rows if row["decision"]) == Counter(each.decision for each in final)
    assert sum(row["included"] == "1" for row in rows) == sum(each.decision == "include" for each in final)
    assert all(row["found_by"] for row in rows)
    both = [row for row in rows if "ann: " in row["abstract_decisions"] and "bob: " in row["abstract_decisions"]]
    assert both
    numbers = prisma_svg(found, NAME, backends.today())
    assert f"(n = {found.identified:,})" in numbers

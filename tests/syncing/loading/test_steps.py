"""The steps of a load, over a folder, an embedded corpus and a local server of NLM's files."""

import gzip
import json
import random
from functools import partial
from itertools import count

import pytest

from bio_mcp.adapters.entrez.files import NcbiFiles
from bio_mcp.adapters.retry import Backoff
from bio_mcp.deadline import Deadline
from bio_mcp.errors import IndexUnavailable, NcbiUnreadable, NotFound
from bio_mcp.literature.medline import open_records
from bio_mcp.literature.pubmed_files import order_of
from bio_mcp.syncing.applying import Origin, apply_records
from bio_mcp.syncing.bulk_load import LONGEST_PAUSE_S, MARGIN_S, MOST_PAUSES, Loading, status_of
from scripts.port_grants import Given, given_for
from scripts.template.functions import declared
from tests.support.corpus import Corpus, Over
from tests.support.folder_files import FolderFiles
from tests.support.hooked import Hooked, at, raising
from tests.support.nlm_files import history, pmid_of, real_records, serving, write
from tests.support.touched_ports import Recorder

BASELINE, PER_FILE = 3, 3
FIRST, SECOND, UPDATE = (f"pubmed26n{number:04}.xml.gz" for number in (1, 2, BASELINE + 1))


@pytest.fixture(scope="module")
def files():
    return history(real_records(PER_FILE * BASELINE + 4), PER_FILE, BASELINE, 2)


@pytest.fixture(scope="module")
def nlm(files, tmp_path_factory):
    """The folders of NLM's files."""
    return write(files, tmp_path_factory.mktemp("nlm"), BASELINE)


@pytest.fixture(scope="module")
def expected(nlm, tmp_path_factory):
    """What the files leave when they are imported one after the other."""
    with Corpus(tmp_path_factory.mktemp("expected")) as corpus:
        for path in sorted(nlm.glob("*/*.xml.gz"), key=lambda path: path.name):
            apply_records(open_records(path), corpus, origin=Origin(order_of(path.name)))
        yield papers(corpus)


@pytest.fixture
def loaded(nlm, tmp_path):
    """A load whose files are in the bucket, as somebody copied them there."""
    with Corpus(tmp_path / "corpus") as corpus:
        bucket = FolderFiles(tmp_path / "bucket")
        for path in nlm.glob("*/*"):
            bucket.put(f"files/{path.name}", path.read_bytes())
        yield Load(bucket, corpus)


def papers(corpus):
    """PMID -> what stands of it, and what of it can be found."""
    heads = corpus.documents.heads(list(corpus.documents.pmids()))
    texts = corpus.passages.chunk_texts(list(heads))
    assert corpus.passages.count()[0] == len(heads)
    assert all(head.indexed_version == head.version for head in heads.values())
    return {
        pmid: (head.content_hash, head.pmid_version, head.date_revised, texts[pmid]) for pmid, head in heads.items()
    }


class Load:
    """Takes the steps as the state machine does: files in any order, a failed one tried three times and noted."""

    def __init__(self, files, corpus, published=None):
        self.files, self.corpus, self.published = files, corpus, published
        self.names, self.random = count(1), random.Random(16)  # noqa: S311  an order, and no secret
        self.hurt = lambda _step, _item: None

    def steps(self, seconds=900.0):
        return Loading(self.files, self.published, self.corpus, Deadline(seconds), batch=4)

    def run(self, **given):
        run = f"run{next(self.names)}"
        again = {"again": given.get("again", False)}
        self.each(run, "fetch", self.steps().begin(run, **given), lambda item: self.steps().fetch_file(item["address"]))
        self.each(run, "list", self.steps().survey(run), lambda item: self.steps().list_file(**item))
        self.each(run, "load", self.steps().plan(run, **again), partial(self.slices, run))
        self.steps().report(run)
        return run

    def slices(self, run, item):
        answer = {"state": "more", "item": item}
        while answer["state"] != "done":
            self.hurt("slice", item)
            answer = json.loads(json.dumps(self.steps().load_file(run, **answer["item"])))
        return answer

    def each(self, run, stage, manifest, take):
        items = json.loads(self.files.get(manifest["key"].removeprefix("load/")))
        assert len(items) == manifest["count"]
        self.random.shuffle(items)
        for item in items:
            self.tried(run, stage, item, take)

    def tried(self, run, stage, item, take):
        for left in (2, 1, 0):
            try:
                self.hurt(stage, item)
                take(item)
                self.hurt(f"after {stage}", item)
                return
            except (NcbiUnreadable, Dead) as failure:
                if not left:
                    self.steps().note(run, item["name"], stage, str(failure))

    def report(self, run):
        return json.loads(self.files.get(f"runs/{run}/report"))


class Dead(Exception):
    """A function ended without an answer."""


def test_files_loaded_in_any_order_leave_what_they_leave_one_after_the_other(loaded, expected, files):
    report = loaded.report(loaded.run())
    assert papers(loaded.corpus) == expected
    assert (report["files"], report["loaded"], report["failed"]) == (len(files), len(files), [])
    counts = report["counts"]
    assert counts["inserted"] == len(expected)
    every = sum(len(records) + len(deleted) for records, deleted in files.values())
    assert counts["left_out"] + counts["inserted"] + counts["deleted"] + counts["skipped"] <= every


def test_a_function_that_dies_at_every_stage_of_every_file_costs_tries_and_no_record(loaded, expected):
    died = set()

    def hurt(stage, item):
        if stage != "slice" and (stage, item["name"]) not in died:
            died.add((stage, item["name"]))
            raise Dead(stage)

    loaded.hurt = hurt
    assert loaded.report(loaded.run())["failed"] == []
    assert {stage for stage, _ in died} == {"list", "after list", "load", "after load"}
    assert papers(loaded.corpus) == expected


def test_a_function_that_dies_within_a_slice_is_followed_by_one_that_leaves_nothing_twice(loaded, expected):
    own = loaded.corpus
    die = at({1, 3, 5}, raising(Dead, "after it was indexed and before it was marked"))
    loaded.corpus = Over(own, passages=Hooked(own.passages, "upsert_chunks", after=die))
    assert loaded.report(loaded.run())["failed"] == []
    assert papers(own) == expected


def test_a_second_run_loads_what_is_new_and_nothing_else_and_all_of_it_when_asked(loaded, expected, files):
    first, second, third = loaded.run(), loaded.run(), loaded.run(again=True)
    assert [loaded.report(run)["files"] for run in (first, second, third)] == [len(files), 0, len(files)]
    assert loaded.report(third)["counts"]["inserted"] == 0
    assert papers(loaded.corpus) == expected


def test_a_lost_index_is_written_again_when_all_is_asked_for_and_nobody_hears_of_it(loaded, expected):
    loaded.run()
    lost = [pmid for pmid, *_ in loaded.corpus.passages.versions()][1:]
    loaded.corpus.passages.delete(lost)
    loaded.run()
    assert loaded.corpus.passages.count()[0] == 1
    heard = loaded.corpus.heard.all
    assert loaded.report(loaded.run(again=True))["counts"]["inserted"] == len(lost)
    assert papers(loaded.corpus) == expected
    assert loaded.corpus.heard.since(heard) == []


@pytest.mark.parametrize("name", [SECOND, UPDATE])
def test_a_file_that_is_damaged_is_named_and_the_next_run_takes_it_up_in_its_place(loaded, expected, name):
    whole = loaded.files.get(f"files/{name}")
    loaded.files.put(f"files/{name}", whole[: len(whole) // 2])
    run = loaded.run()
    assert loaded.report(run)["failed"] == [
        {"file": name, "stage": "list", "reason": f"{name} has another MD5 than the file beside it says."}
    ]
    assert papers(loaded.corpus) != expected
    loaded.files.put(f"files/{name}", whole)
    assert loaded.report(loaded.run())["failed"] == []
    assert papers(loaded.corpus) == expected


def test_a_file_with_another_md5_is_fetched_again_by_a_run_that_fetches(loaded, nlm, expected, closed):
    loaded.files.put(f"files/{SECOND}", b"damaged")
    with serving(nlm) as served:
        loaded.published = closed(NcbiFiles(served.url, "test"))
        for run in (loaded.run(fetch=True), loaded.run()):
            assert [each["file"] for each in loaded.report(run)["failed"]] == [SECOND]
        assert loaded.report(loaded.run(fetch=True))["failed"] == []
        loaded.run(fetch=True)
        assert [path for path, _ in served.asked if path.endswith(".gz")] == [f"baseline/{SECOND}"]
    assert papers(loaded.corpus) == expected
    assert loaded.files.tags("damaged") == {}


def test_half_a_file_without_an_md5_beside_it_is_applied_to_nothing(loaded):
    whole = loaded.files.get(f"files/{FIRST}")
    loaded.files.put(f"files/{FIRST}", whole[: len(whole) // 2])
    loaded.files.delete(f"files/{FIRST}.md5")
    [failed] = loaded.report(loaded.run())["failed"]
    assert failed["file"] == FIRST
    assert "damaged or cut short" in failed["reason"]
    assert not any(each.startswith(FIRST) for each in loaded.files.tags("done"))


def test_a_file_that_was_replaced_is_listed_and_loaded_anew(loaded, files):
    loaded.run()
    name = UPDATE
    records, deleted = files[name]
    gone = pmid_of(records[-1])
    write({name: (records[:-1], (*deleted, gone))}, loaded.files.root / "replaced")
    for path in (loaded.files.root / "replaced").glob("*/*"):
        loaded.files.put(f"files/{path.name}", path.read_bytes())
    assert loaded.report(loaded.run())["files"] == 1
    assert gone not in papers(loaded.corpus)
    assert len([each for each in loaded.files.tags("lists") if each.startswith(name)]) == 1


def test_a_file_that_was_removed_is_not_loaded_and_its_records_stay(loaded, expected):
    loaded.run()
    loaded.files.delete(f"files/{UPDATE}")
    assert loaded.report(loaded.run(again=True))["files"] == len(loaded.files.tags("lists")) - 1
    assert papers(loaded.corpus) == expected


@pytest.fixture
def large(loaded):
    """A run that is planned, and the item of a file that takes several batches."""
    records = real_records(17)
    write({FIRST: (records, ())}, loaded.files.root / "large")
    for path in (loaded.files.root / "large").glob("*/*"):
        loaded.files.put(f"files/{path.name}", path.read_bytes())
    for item in json.loads(loaded.files.get(loaded.steps().survey("large")["key"].removeprefix("load/"))):
        loaded.steps().list_file(**item)
    loaded.steps().plan("large")
    return next(item for item in json.loads(loaded.files.get("runs/large/load")) if item["name"] == FIRST)


class Hourglass(Deadline):
    """A deadline that ends after so many looks at it."""

    def __init__(self, looks):
        super().__init__()
        self.looks = looks

    @property
    def remaining(self):
        self.looks -= 1
        return MARGIN_S if self.looks < 0 else 900.0


def test_a_file_larger_than_the_time_of_a_function_goes_on_where_it_stopped(loaded, large):
    answer, positions = {"item": large, "state": "more"}, []
    while answer["state"] == "more":
        steps = Loading(loaded.files, None, loaded.corpus, Hourglass(4), batch=4)
        answer = steps.load_file("large", **answer["item"])
        positions.append(answer["item"]["progress"]["position"])
    assert (answer["state"], positions[-1]) == ("done", 17)
    assert positions == sorted(positions)
    assert len(set(positions)) > 2
    assert len(papers(loaded.corpus)) == answer["item"]["progress"]["inserted"] + answer["item"]["progress"]["skipped"]


def throttled(corpus, refusals):
    """A corpus whose index refuses so many writes, as a node whose queue is full."""
    refuse = at(range(1, refusals + 1), raising(IndexUnavailable, "429"))
    return Over(corpus, passages=Hooked(corpus.passages, "upsert_chunks", before=refuse))


def test_a_busy_index_is_given_longer_and_longer_pauses_for_which_no_function_waits(loaded, large):
    loaded.corpus = throttled(loaded.corpus, 7)
    item, waits = large, []
    while (answer := loaded.steps().load_file("large", **item))["state"] == "wait":
        item = answer["item"]
        waits.append(answer["wait_s"])
    assert answer["state"] == "done"
    assert len(waits) == 7
    assert 11 <= waits[0] <= 18 < 22 <= waits[1] <= 37  # 15 s and 30 s, each by a quarter more or less
    assert all(0.7 * LONGEST_PAUSE_S < each < 1.3 * LONGEST_PAUSE_S for each in waits[5:])
    assert loaded.steps().load_file("large", **large)["item"]["progress"]["inserted"] == 0


def test_an_index_that_stays_busy_fails_the_file_in_the_end(loaded, large):
    loaded.corpus = throttled(loaded.corpus, 99)
    first = loaded.steps().load_file("large", **large)
    with pytest.raises(IndexUnavailable, match="429 It has been so for") as raised:
        loaded.steps().load_file("large", **first["item"] | {"pauses": MOST_PAUSES})
    assert not raised.value.retryable


def test_a_new_paper_is_announced_to_nobody_and_a_change_and_a_deletion_are(loaded, files):
    base = {name: each for name, each in files.items() if name <= f"pubmed26n{BASELINE:04}.xml.gz"}
    updates = {name: loaded.files.get(f"files/{name}") for name in files.keys() - base.keys()}
    for name in updates:
        loaded.files.delete(f"files/{name}")
    loaded.run()
    assert loaded.corpus.heard.all == []
    for name, content in updates.items():
        loaded.files.put(f"files/{name}", content)
    loaded.run()
    assert {kind for kind, _, _ in loaded.corpus.heard.all} == {"changed", "deleted"}


def test_the_status_of_a_run_on_its_way_says_what_is_left(loaded, files):
    for item in json.loads(loaded.files.get(loaded.steps().survey("now")["key"].removeprefix("load/"))):
        loaded.steps().list_file(**item)
    loaded.steps().plan("now")
    items = json.loads(loaded.files.get("runs/now/load"))
    loaded.slices("now", items[0])
    loaded.steps().note("now", items[1]["name"], "load", "why")
    status = status_of("now", loaded.files)
    assert status["stages"] == {"list": len(files), "load": len(files)}
    assert (status["loaded"], len(status["left"]), len(status["failed"])) == (1, len(files) - 2, 1)
    assert loaded.steps().report("now") == {"files": len(files), "loaded": 1, "failed": len(files) - 1}
    assert loaded.report("now")["failed"][-1]["reason"] == "it ended without a word"


def test_a_file_that_is_replaced_between_its_steps_is_not_loaded(loaded, large):
    loaded.files.put(f"files/{FIRST}", gzip.compress(b"<PubmedArticleSet/>"))
    with pytest.raises(NotFound):
        loaded.steps().load_file("large", **large)


def test_ncbis_files_are_fetched_with_their_md5_and_only_once_also_when_they_are_taken_away_after_the_load(
    nlm, tmp_path, expected, files
):
    with serving(nlm) as served, Corpus(tmp_path / "corpus") as corpus:
        published = NcbiFiles(served.url, "test", backoff=Backoff(tries=3, first_s=0, cap_s=0))
        served.damaged[f"baseline/{FIRST}"] = 9
        load = Load(FolderFiles(tmp_path / "bucket"), corpus, published)
        first = load.run(fetch=True)
        [failed] = load.report(first)["failed"]
        assert (failed["file"], failed["stage"]) == (FIRST, "fetch")
        assert FIRST not in load.files.tags("files")
        served.damaged.clear()
        served.asked.clear()
        second = load.run(fetch=True)
        assert [path for path, _ in served.asked if path.endswith(".gz")] == [f"baseline/{FIRST}"]
        assert load.report(second)["failed"] == []
        assert papers(corpus) == expected
        served.asked.clear()
        for name in load.files.tags("files"):
            load.files.delete(f"files/{name}")
        assert load.report(load.run(fetch=True))["files"] == 0
        assert not [path for path, _ in served.asked if path.endswith(".gz")]
        load.run(fetch=True, again=True)
        assert len([path for path, _ in served.asked if path.endswith(".gz")]) == len(files)
        assert papers(corpus) == expected
        published.close()


def test_the_function_on_aws_has_all_that_a_load_touches(loaded):
    loaded.corpus = Recorder(loaded.corpus)
    loaded.run()
    touched = loaded.corpus.touched
    assert {"documents.put", "documents.delete", "passages.upsert_chunks"} <= touched
    lacking = given_for(touched).without(given_for(declared("load")["uses"]))
    assert lacking == Given()

import math
import random
from datetime import date

import numpy as np
import pytest

from bio_mcp.errors import Conflict, EmbeddingFailed, InvalidInput, ModelMismatch
from bio_mcp.literature.quality import StaticQuality
from bio_mcp.literature.records import (
    AbstractSection,
    Article,
    Author,
    MeshHeading,
    PartialDate,
    PublicationType,
    RetractionStatus,
)
from bio_mcp.retrieval.passages import Chunk, Entry, Filters, Matching, OtherName, PassageQuery, YearCount
from bio_mcp.retrieval.pubmed_syntax import And, Dates, Not, Or, fields_of, parsed
from tests.adapters.entries import DIM, chunk, entry, unit
from tests.support.boolean_queries import FOUND, PAPER
from tests.support.cases import case
from tests.support.reference_indexes import ReferencePassages


@pytest.fixture
def passages(ports):
    ports.passages.ensure_schema("model-a", DIM)
    return ports.passages


def words(text):
    return tuple((word, 1.0) for word in text.split())


def found(passages, text="", vector=None, filters=None, depth=200, within=None):
    query = PassageQuery(words(text), vector, filters or Filters(), depth, within)
    return {candidate.pmid: candidate for candidate in passages.hybrid_search(query)}


def test_an_empty_index_gives_an_empty_list(passages, ports):
    assert found(passages, "aspirin", unit(1)) == {}
    assert passages.count() == (0, 0)
    assert passages.chunks(["1"], unit(1)) == passages.chunk_texts(["1"]) == passages.document_vectors(["1"]) == {}


def test_a_document_says_everything_a_search_needs(passages):
    quality = StaticQuality(3, None, 2)
    axes = np.eye(DIM, dtype=np.float32)
    more = {"year": 2020, "quality": quality, "retraction": RetractionStatus.CONCERN}
    passages.upsert_chunks([entry("7", "aspirin", vectors=[axes[0], axes[1]], **more)])
    [candidate] = passages.hybrid_search(PassageQuery(words("aspirin"), axes[1]))
    assert (candidate.pmid, candidate.chunk_id, candidate.year) == ("7", "w1", 2020)
    assert candidate.sim == pytest.approx(1)
    assert candidate.bm25 == pytest.approx(math.log(1 + 0.5 / 1.5) / 2.2)
    assert (candidate.quality, candidate.retraction) == (quality, RetractionStatus.CONCERN)


FILTERS = [
    (Filters(year_from=2010), {"1", "2"}),
    (Filters(year_to=2010), {"2", "3"}),
    (Filters(year_from=2010, year_to=2010), {"2"}),
    (Filters(journals=frozenset({"101"})), {"1", "3"}),
    (Filters(journals=frozenset({"the lancet", "nowhere"})), {"2"}),
    (Filters(journals=frozenset({"nowhere"})), set()),
    (Filters(publication_types=frozenset({"D1", "D3"})), {"1", "3"}),
    (Filters(tags=frozenset({"red"})), {"1", "2"}),
    (Filters(tags=frozenset({"red", "blue"})), {"2"}),
    (Filters(project="p/1"), {"1"}),
    (Filters(project="p"), set()),
    (Filters(year_from=2010, tags=frozenset({"blue"})), {"2"}),
]
CELL = {"journal": "Cell", "publication_types": ("D1",), "tags": ("red",), "projects": ("p/1",)}
LANCET = {"journal": "The Lancet", "publication_types": ("D2",), "tags": ("red", "blue")}
UNNAMED = {"publication_types": ("D2", "D3"), "tags": ("green",), "projects": ("p/2", "p/3")}


def test_filters(passages):
    first = entry("1", "x", year=2020, journal_nlm_id="101", **CELL)
    second, third = entry("2", "x", year=2010, **LANCET), entry("3", "x", year=2000, journal_nlm_id="101", **UNNAMED)
    passages.upsert_chunks([first, second, third, entry("4", "x")])
    for filters, wanted in FILTERS:
        with case(filters):
            assert set(found(passages, "x", filters=filters)) == wanted
            assert set(found(passages, vector=unit(0), filters=filters)) == wanted
            assert set(found(passages, "x", unit(0), filters)) == wanted


def test_only_the_papers_within_are_looked_at(passages):
    passages.upsert_chunks([entry(str(n), "x", year=2000 + n) for n in range(1, 6)])
    assert set(found(passages, "x", unit(1), within=frozenset({"2", "5", "77", "abc"}))) == {"2", "5"}
    assert set(found(passages, "x", unit(1), Filters(year_to=2003), within=frozenset({"2", "5"}))) == {"2"}
    assert set(found(passages, vector=unit(1), within=frozenset({"2", "5"}))) == {"2", "5"}
    assert set(found(passages, "x", within=frozenset({"2", "5"}))) == {"2", "5"}
    assert found(passages, "x", unit(1), within=frozenset()) == {}


def test_an_older_version_is_ignored_and_an_equal_one_replaces(passages):
    passages.upsert_chunks([entry("1", "second", version=2), entry("1", "beside", version=1)])
    passages.upsert_chunks([entry("1", "first", version=1)])
    assert (set(found(passages, "second")), set(found(passages, "first beside"))) == ({"1"}, set())
    passages.upsert_chunks([entry("1", "again", version=2)])
    assert set(found(passages, "again")) == {"1"}


def test_chunks_come_in_the_order_of_the_text_with_their_cosines(passages):
    axes = np.eye(DIM, dtype=np.float32)
    chunks = (
        Chunk("s0", "First – µ.", "T. First – µ.", "BACKGROUND", 0, 10),
        Chunk("s1_0", "Second.", "T. Second.", None, 11, 18),
    )
    one = Entry("1", 1, "T", [], chunks, {"s0": axes[0], "s1_0": axes[1]})
    passages.upsert_chunks([one])
    first, second = passages.chunks(["1", "2"], axes[1])["1"]
    assert (first.pmid, first.chunk_id, first.text, first.section) == ("1", "s0", "First – µ.", "BACKGROUND")
    assert (first.char_start, first.char_end, first.sim, second.sim) == (0, 10, 0.0, 1.0)
    assert passages.chunks(["1"])["1"][0].sim is None
    assert passages.chunk_texts(["1"]) == {"1": {each.chunk_id: each.embedded_sha256 for each in chunks}}


def test_the_mean_vector_of_a_document_is_a_unit_vector(passages):
    axes = np.eye(DIM, dtype=np.float32)
    passages.upsert_chunks([entry("1", vectors=[axes[0], axes[1]])])
    assert passages.document_vectors(["1", "2"])["1"] == pytest.approx((axes[0] + axes[1]) / math.sqrt(2))


def test_a_vector_that_is_not_given_is_kept_while_the_text_stands(passages):
    passages.upsert_chunks(
        [Entry("1", 1, "T", ["x"], (chunk("s0", "a"), chunk("s1", "b")), {"s0": unit(1), "s1": unit(2)})]
    )
    moved = Entry("1", 2, "T", ["x"], (chunk("s0", "new"), chunk("s1", "a"), chunk("s2", "b")), {"s0": unit(3)})
    passages.upsert_chunks([moved])
    sims = [each.sim for each in passages.chunks(["1"], unit(1))["1"]]
    assert sims == pytest.approx([float(unit(1) @ unit(n)) for n in (3, 1, 2)], abs=1e-6)


def test_a_vector_that_is_missing_for_a_new_text_refuses_the_whole_batch(passages):
    passages.upsert_chunks([entry("1", "old")])
    changed = Entry("1", 2, "T", ["new"], (chunk("w0", "another text"),), {})
    with pytest.raises(Conflict, match="w0 of PMID 1"):
        passages.upsert_chunks([entry("2", "new"), changed])
    assert set(found(passages, "new")) == set()
    assert set(found(passages, "old")) == {"1"}


def test_whether_the_index_has_another_models_vectors_can_be_asked_without_writing(passages):
    passages.check_model("model-b", DIM)
    passages.upsert_chunks([entry("1")])
    passages.check_model("model-a", DIM)
    for other in (("model-b", DIM), ("model-a", DIM + 1)):
        with pytest.raises(ModelMismatch):
            passages.check_model(*other)


def test_an_index_that_was_never_made_fits_every_model_and_is_not_made_by_asking(ports):
    ports.passages.check_model("model-a", DIM)
    ports.passages.ensure_schema("model-b", 3)
    assert ports.passages.hybrid_search(PassageQuery((), unit(1))) == []


def test_vectors_that_do_not_fit_are_refused(passages):
    with pytest.raises(EmbeddingFailed, match="PMID 1"):
        passages.upsert_chunks([entry("1", vectors=[np.full(DIM, np.nan)])])
    with pytest.raises(InvalidInput):
        passages.upsert_chunks([entry("007")])


def test_a_document_without_words_or_windows_is_harmless(passages):
    passages.upsert_chunks([entry("1", vectors=[]), entry("2", "x"), entry("3", "", vectors=[unit(3)])])
    assert set(found(passages, "x", unit(3))) == {"2", "3"}
    assert passages.count() == (3, 2)
    assert passages.chunks(["1"], unit(1)) == {"1": []}


@pytest.mark.parametrize("seed", range(2))
def test_scores_are_those_of_the_plain_reading_of_the_contract(passages, seed):
    rng = np.random.default_rng(seed)
    plain = ReferencePassages()
    plain.ensure_schema("model-a", DIM)
    for _ in range(3):
        batch = [
            entry(
                str(pmid),
                " ".join(f"t{int(n)}" for n in rng.zipf(1.4, int(rng.integers(1, 120))) % 50),
                vectors=[unit(int(n)) for n in rng.integers(0, 10_000, int(rng.integers(1, 5)))],
                year=int(rng.integers(2000, 2010)),
                tags=("a",) if rng.random() < 0.5 else ("a", "b"),
            )
            for pmid in rng.choice(np.arange(1, 200), 60, replace=False)
        ]
        gone = [str(pmid) for pmid in rng.choice(np.arange(1, 200), 20)]
        for each in (passages, plain):
            each.upsert_chunks(batch)
            each.delete(gone)
        for filters in (Filters(), Filters(year_from=2004, tags=frozenset({"b"}))):
            query = PassageQuery(
                (("t1", 1.0), ("t2", 0.5), ("t7", 1.0), ("t99", 1.0)), unit(int(rng.integers(9))), filters, 15
            )
            got = {each.pmid: each for each in passages.hybrid_search(query)}
            wanted = {each.pmid: each for each in plain.hybrid_search(query)}
            assert got.keys() == wanted.keys()
            for pmid, each in wanted.items():
                assert got[pmid].bm25 == (each.bm25 and pytest.approx(each.bm25, abs=1e-5))
                assert got[pmid].sim == (each.sim and pytest.approx(each.sim, abs=1e-5))
                assert got[pmid].chunk_id == each.chunk_id


def test_an_index_that_is_renewed_for_another_model_is_empty_and_for_its_own_stays(passages):
    passages.upsert_chunks([entry(str(n), "aspirin") for n in range(1, 4)])
    passages.renew("model-a", DIM)
    assert passages.count() == (3, 3)
    for _ in range(2):
        passages.renew("model-b", DIM)
        assert (passages.count(), found(passages, "aspirin")) == ((0, 0), {})
    passages.upsert_chunks([entry("1", "heparin")])
    with pytest.raises(ModelMismatch):
        passages.ensure_schema("model-a", DIM)


def test_an_index_that_was_never_made_is_made_by_renewing_it(ports):
    ports.passages.renew("model-a", DIM)
    ports.passages.upsert_chunks([entry("1", "aspirin")])
    assert ports.passages.count() == (1, 1)


def test_stored_vectors_are_read_by_the_hash_of_what_was_embedded(passages):
    written = entry("1", "aspirin", vectors=[unit(1), unit(2)])
    passages.upsert_chunks([written, entry("2", vectors=[])])
    read = passages.chunk_vectors(["1", "2", "3"])
    assert (read.keys(), read["2"]) == ({"1", "2"}, {})
    for each in written.chunks:
        assert (read["1"][each.embedded_sha256] == written.vectors[each.chunk_id]).all()


def test_what_was_deleted_is_refused_up_to_its_version(passages):
    passages.upsert_chunks([entry(pmid, "aspirin", version=2, year=2020) for pmid in ("1", "2", "3")])
    passages.delete(["1", "2", "3", "4"], {"1": 2, "2": 1, "4": 3})
    assert dict(passages.versions()) == {"2": 2}
    passages.upsert_chunks([entry(pmid, "aspirin", version=2, year=2020) for pmid in ("1", "3", "4")])
    assert dict(passages.versions()) == {"2": 2, "3": 2}
    assert passages.count()[0] == passages.matching(Filters(), 9).total == 2
    assert [each.documents for each in passages.by_year()] == [2]
    assert passages.chunk_texts(["1", "4"]) == passages.chunks(["1", "4"]) == passages.document_vectors(["1"]) == {}
    passages.delete(["1", "4"], {"1": 1, "4": 4})
    passages.upsert_chunks([entry("1", "aspirin", version=3), entry("4", "aspirin", version=4)])
    assert dict(passages.versions()) == {"1": 3, "2": 2, "3": 2}
    passages.delete(["1"])
    assert dict(passages.versions()) == {"2": 2, "3": 2}


def test_documents_are_counted_by_year_and_design(passages, ports):
    assert passages.by_year() == []
    for pmid, year, design in (("1", 2020, 3), ("2", 2020, 3), ("3", 2020, 0), ("4", 2019, None), ("5", None, 2)):
        passages.upsert_chunks([entry(pmid, "aspirin", year=year, quality=StaticQuality(design))])
    passages.upsert_chunks([entry("1", "aspirin", version=2, year=2020, quality=StaticQuality(3))])
    passages.delete(["2"])
    assert passages.by_year() == [
        YearCount(None, 2, 1), YearCount(2019, None, 1), YearCount(2020, 0, 1), YearCount(2020, 3, 1)
    ]  # fmt: skip


def test_what_is_left_to_a_refresh_is_read_at_once_and_found_after_it(passages):
    passages.upsert_chunks([entry("1", "aspirin")], refresh=False)
    assert passages.chunk_texts(["1"]).keys() == {"1"}
    passages.refresh("model-a", DIM)
    assert set(found(passages, "aspirin")) == {"1"}
    assert min(passages.refresh_after, passages.write_at_once) >= 1


def test_a_refresh_says_that_an_index_of_another_model_is_searched_by_now(passages):
    passages.ensure_schema("model-b", DIM)
    passages.upsert_chunks([entry("1", "aspirin")])
    with pytest.raises(ModelMismatch):
        passages.refresh("model-a", DIM)


def paper(pmid, title="", abstract="", *, terms="x", version=1, abbreviations=(), participants=None, **article):
    """The entry of an article; its analysed terms are made up."""
    sections = tuple(AbstractSection(None, None, each) for each in abstract.split("|") if each)
    fields = fields_of(Article(pmid, title=title, abstract=sections, **article))
    more = {"abbreviations": abbreviations, "participants": participants}
    return entry(pmid, terms, version=version, fields=fields, **more)


def matching(passages, query=None, most=100, **filters):
    tree = parsed(query) if isinstance(query, str) else query
    return passages.matching(Filters(tree=tree, **filters), most)


def test_a_paper_is_found_by_the_queries_in_pubmeds_syntax_that_find_it(passages):
    passages.upsert_chunks([entry(PAPER.pmid, "x", fields=fields_of(PAPER)), entry("2", "x"), paper("3", "Of mice")])
    for query, finds in FOUND:
        with case(query[:80]):
            pmids = matching(passages, query).pmids
            assert (PAPER.pmid in pmids) == finds
            assert ("2" in pmids) == ("NOT" in query and "asthma NOT" not in query)


WORDS = "lung lungs heart cell cells mice tnf alpha 2 trial".split()
AUTHORS = (
    Author("van der Berg", "Jane Ann", "JA"),
    Author("Berg", "Jo", "J"),
    Author("Cell", "Heart", "H", suffix="Jr"),
)
HEADINGS = (MeshHeading("D1", "Lung"), MeshHeading("D2", "Lung, Heart", major=True), MeshHeading("D3", "Mice"))
TYPES = (PublicationType("D016428", "Journal Article"), PublicationType("D016449", "Randomized Controlled Trial"))
PARTS = [
    "lung", "lung*", "lung[ti]", '"heart cell"', '"lungs hear*"[tiab]', "mice[ab]", "trial[ot]", '"cell trial"[tw]',
    "berg[au]", '"berg j"[au]', "berg*[au]", "van der berg j[au]", "cell h[au]", "heart cell[1au]", "berg j[lastau]",
    "lung[mh]", "lung*[majr]", "mice[mh]", "journal article[pt]", "clinical trial[pt]", "german[la]", "7[pmid]",
    "10.1000/x_7[doi]", "tnf-alpha", "2001[dp]", "2001:2002[dp]", "2003/02:2003/03[dp]",
]  # fmt: skip


def drawn_paper(draw, pmid, version):
    some = lambda things: tuple(draw.sample(things, draw.randrange(len(things) + 1)))  # noqa: E731
    text = lambda: " ".join(draw.choices(WORDS, k=draw.randrange(1, 8)))  # noqa: E731
    article = {
        "authors": some(AUTHORS),
        "mesh": some(HEADINGS),
        "publication_types": some(TYPES),
        "keywords": (text(),),
    }
    printed = PartialDate("", draw.randrange(2000, 2005), draw.choice((None, 2, 3)))
    days = {"publication_date": printed, "electronic_date": draw.choice((None, PartialDate("", 2002)))}
    more = {
        "languages": (draw.choice(("eng", "ger")),),
        "doi": f"10.1000/X_{pmid}",
        "participants": draw.choice((None, 0, 9)),
    }
    return paper(pmid, text(), f"{text()}|{text()}", version=version, terms=text(), **article, **days, **more)


def drawn_tree(draw, depth):
    if not depth or draw.random() < 0.3:
        return parsed(draw.choice(PARTS))
    parts = tuple(drawn_tree(draw, depth - 1) for _ in range(draw.randrange(1, 4)))
    return draw.choice((And(parts), Or(parts), Not(parts[0])))


@pytest.mark.parametrize("seed", range(2))
def test_papers_are_found_by_trees_as_the_plain_reading_of_the_contract_finds_them(passages, seed):
    draw, plain = random.Random(seed), ReferencePassages()  # noqa: S311  the same each time
    plain.ensure_schema("model-a", DIM)
    for version in (1, 2):
        batch = [drawn_paper(draw, str(pmid), version) for pmid in draw.sample(range(1, 60), 40)]
        gone = [str(pmid) for pmid in draw.sample(range(1, 60), 5)]
        for each in (passages, plain):
            each.upsert_chunks(batch)
            each.delete(gone)
        for tree in [*map(parsed, PARTS), *(drawn_tree(draw, 3) for _ in range(30)), deep_tree()]:
            with case(tree):
                filters = Filters(tree=tree, participants_min=draw.choice((None, None, 0, 5)))
                assert passages.matching(filters, 7) == plain.matching(filters, 7)
        for tree in (drawn_tree(draw, 3) for _ in range(10)):
            with case(tree):
                query = PassageQuery((("lung", 1.0), ("heart", 0.5)), unit(seed), Filters(tree=tree), 15)
                assert {each.pmid for each in passages.hybrid_search(query)} == {
                    each.pmid for each in plain.hybrid_search(query)
                }


def deep_tree():
    """As many brackets in each other as a query may have."""
    return parsed("".join(f"(lung {'AND OR'.split()[at % 2]} " for at in range(50)) + "mice" + ")" * 50)


def test_a_paper_is_found_by_what_it_says_now(passages):
    passages.upsert_chunks([paper("1", "Lung cell", participants=7), paper("2", "Lung", participants=10)])
    assert matching(passages, "lung").pmids == ("2", "1")
    passages.upsert_chunks([paper("1", "Heart", version=2), paper("2", "Mice", version=0)])
    assert (matching(passages, "lung").pmids, matching(passages, "heart").pmids) == (("2",), ("1",))
    assert matching(passages, participants_min=5).pmids == ("2",)
    for _ in range(2):
        passages.delete(["2", "3"])
        assert matching(passages, "lung NOT nothing") == matching(passages, participants_min=0) == Matching(0, ())
        assert matching(passages, "NOT lung").pmids == ("1",)
    passages.renew("model-b", DIM)
    assert matching(passages, "heart") == matching(passages, "NOT heart") == Matching(0, ())
    assert (passages.words_like("heart"), passages.other_names(["ci"])) == ([], [])
    passages.upsert_chunks([paper("5", "Heart")])
    assert matching(passages, "heart").pmids == ("5",)


def test_studies_are_found_by_their_participants(passages):
    stated = {"1": None, "2": 0, "3": 99, "4": 100, "5": 8_000_000_000}
    passages.upsert_chunks([paper(pmid, "Lung", participants=n) for pmid, n in stated.items()])
    for least, pmids in ((0, {"2", "3", "4", "5"}), (1, {"3", "4", "5"}), (100, {"4", "5"}), (8_000_000, {"5"})):
        with case(least):
            assert set(matching(passages, participants_min=least).pmids) == pmids
            assert set(found(passages, "x", unit(0), Filters(participants_min=least))) == pmids


def test_of_many_papers_the_newest_are_listed(passages):
    days = {"2": (2020, 5), "30": (2020, 5), "4": (2019, None), "5": (2020, None), "6": (None, None)}
    for pmid, (year, month) in days.items():
        passages.upsert_chunks([paper(pmid, "Lung", publication_date=PartialDate("", year, month))])
    passages.upsert_chunks([paper("1", "Lung", publication_date=PartialDate("", 2001),
                                  electronic_date=PartialDate("", 2020, 6))])  # fmt: skip
    for filters in (Filters(), Filters(tree=parsed("lung"))):
        assert passages.matching(filters, 9) == Matching(6, ("1", "30", "2", "5", "4", "6"))
        assert passages.matching(filters, 2) == Matching(6, ("1", "30"))
        assert passages.matching(filters, 0) == Matching(6, ())
    assert matching(passages, Dates(date(2020, 1, 1), date(2020, 5, 1))).pmids == ("30", "2", "5")
    assert matching(passages, Not(Dates(date(1, 1, 1), date(3000, 1, 1)))).pmids == ("6",)


def test_an_empty_index_has_no_papers_words_or_names(passages):
    assert matching(passages, "lung") == matching(passages) == Matching(0, ())
    assert passages.words_like("lung") == passages.other_names(["copd"]) == []


def test_words_like_a_misspelt_one_are_those_that_papers_have(passages):
    passages.upsert_chunks([
        paper("1", "Infarction of infants", "Infarction, inflation|an infection"),
        paper("2", "infarctions", "reinfarction"), paper("3", "Infarction", keywords=("infarctien",)),
        paper("4", "Café caffeine"),
    ])  # fmt: skip
    for word, like in {
        "infarction": {"infarction": 1},
        "infraction": {"infarction": 2, "infarctions": 1, "infection": 1, "inflation": 1},
        "infarctoin": {"infarction": 2, "infarctions": 1},
        "infracton": {"infarction": 2},
        "infektion": {"infection": 1, "inflation": 1},
        "cafe": {"cafe": 1},
        "caffiene": {"caffeine": 1},
        "nfarction": {},
        "xyz": {},
        'in"far*tion': {"infarction": 2},
        "": {},
    }.items():
        with case(word):
            assert dict(passages.words_like(word)) == like
    passages.delete(["1", "2"])
    assert passages.words_like("infarctoin") == [("infarction", 1)]


def test_the_best_known_of_many_words_are_given(passages):
    ends = [f"{one}{other}" for one in "bcdfghjkmn" for other in "abcdefghijklmn"]
    passages.upsert_chunks([paper("1", "Pre" + " pre".join(ends)), paper("2", "prena prenb"), paper("3", "prena")])
    found = passages.words_like("preza")
    assert found[:1] == [("prena", 3)]
    assert 50 < len(found) <= 120
    assert ("prenb", 2) in found


def test_other_names_are_those_that_papers_define(passages):
    passages.upsert_chunks([
        paper("1", abbreviations=(("ci", "confidence interval"), ("mi", "myocardial infarct"))),
        paper("2", abbreviations=(("ci", "cardiac index"), ("ci", "confidence interval"))),
        paper("3", abbreviations=(("confidence interval", "ci"),)), paper("4"),
    ])  # fmt: skip
    names = {
        OtherName("ci", "confidence interval", 3), OtherName("ci", "cardiac index", 1),
        OtherName("myocardial infarct", "mi", 1),
    }  # fmt: skip
    assert set(passages.other_names(["ci", "myocardial infarct", "confidence"])) == names
    assert len(passages.other_names({"ci", "myocardial infarct", "confidence"})) == 3
    passages.upsert_chunks([paper("2", version=2, abbreviations=(("ci", "confidence interval"),))])
    passages.delete(["1"])
    assert passages.other_names(["ci"]) == [OtherName("ci", "confidence interval", 2)]
    assert passages.other_names(["mi"]) == passages.other_names([]) == []

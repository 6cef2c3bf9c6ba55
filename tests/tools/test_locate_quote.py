"""locateQuote, over real records and over a project made of a real paper."""

import lzma
import random
import re
from itertools import islice, pairwise
from pathlib import Path

import pytest
from lxml import etree

from bio_mcp.call import call
from bio_mcp.ingesting.projects import Options, create_project
from bio_mcp.literature.documents import ParsedDocument, ParsedSection
from bio_mcp.retrieval.chunking import abstract_text, chunks_of_sections, sentence_spans
from bio_mcp.retrieval.project_chunks import ProjectChunk, Work
from bio_mcp.syncing.applying import apply_records
from bio_mcp.tools.projects import locate_quote
from tests.doors.command_line import sample
from tests.support.corpus import Corpus, HashedWords
from tests.support.sample_project import add_project, put

PAPER = Path(__file__).parents[1] / "data/pdf/demarchis2016.tei.xml.xz"
TEI = "{http://www.tei-c.org/ns/1.0}"
WORK = Work("d7", title="Multi-contact FES", citekey="demarchis2016", doi="10.1186/s12984-016-0123-8", year=2016)
ELSEWHERE = "The committee of the village met on Thursday to discuss the price of apples and the new bridge."


def paper():
    """The body of a real paper, its sections on two pages each."""
    body = etree.fromstring(lzma.decompress(PAPER.read_bytes())).find(f".//{TEI}body")
    sections = []
    for each in body.iterfind(f"{TEI}div"):
        text = " ".join(" ".join(part.itertext()) for part in each.iterfind(f"{TEI}p"))
        heading = each.findtext(f"{TEI}head") or "Untitled"
        page, text = 2 * len(sections) + 1, re.sub(r"\s+", " ", text).strip()
        if text:
            pages = ((0, page), (len(text) // 2, page + 1))
            sections.append(ParsedSection(text, heading, ("Article", heading), pages))
    return ParsedDocument(tuple(sections))


@pytest.fixture(scope="module")
def document():
    return paper()


@pytest.fixture(scope="module")
def backends(tmp_path_factory, document):
    """A corpus of some real records, and a project with a real paper and two others."""
    model = HashedWords()
    with Corpus(tmp_path_factory.mktemp("quotes")) as corpus:
        apply_records(islice(sample(), 40), corpus)
        collection = create_project("lab", Options(), corpus).project.collection
        chunks = chunks_of_sections(document, WORK, model.count_tokens, 120)
        put(corpus, collection, list(chunks))
        put(corpus, collection, [ProjectChunk("mine", Work("note"), f"We wrote: {ELSEWHERE[:60]}.")])
        add_project(corpus, "other")
        yield corpus


def locate(backends, quote, **more):
    outcome = call(locate_quote, {"quote": quote, **more}, backends)
    assert not outcome.failed, outcome.text
    return outcome.body


def sentences(document, least=60):
    """Spans of the document's sentences, of at least so many characters."""
    spans = [each for each in sentence_spans(document.text) if least < each[1] - each[0] < 400]
    return random.Random(1).sample(spans, 25)  # noqa: S311  the same ones each time


def typeset(text, draw):
    """The same words as another programme copies them."""
    for plain, other in (("fi", "ﬁ"), ("-", "–"), ('"', "“"), ("'", "’")):
        text = text.replace(plain, other)
    words = text.split(" ")
    at = draw.randrange(len(words))
    if len(words[at]) > 6 and words[at].isalpha():
        words[at] = f"{words[at][:4]}-\n{words[at][4:]}"
    return "\n".join([" ".join(words[: at + 1]), "  ".join(words[at + 1 :])])


def test_sentences_of_a_paper_are_found_at_their_offsets_however_they_were_typeset(backends, document):
    draw = random.Random(2)  # noqa: S311
    for start, end in sentences(document):
        body = locate(backends, typeset(document.text[start:end], draw), project="lab")
        place = body["places"][0]
        assert (body["found"], place["similarity"], place["differences"]) == ("exactly", 1, [])
        assert document.text[place["char_start"] : place["char_end"]] == place["text"]
        assert start <= place["char_start"] < place["char_end"] <= end
        assert place["char_end"] - place["char_start"] >= 0.9 * (end - start)


def test_a_place_says_what_cites_it(backends, document):
    section = document.sections[3]
    start, end = sentence_spans(section.text)[0]
    [place] = locate(backends, section.text[start:end], project="lab")["places"]
    assert place["section"] == section.heading
    assert place["section_path"] == ["Article", section.heading]
    assert place["page_span"][0] == section.page_starts[0][1]
    named = {name: place[name] for name in ("doc_id", "citekey", "title", "doi", "pmid")}
    assert named == {"doc_id": "d7", "citekey": "demarchis2016", "title": WORK.title, "doi": WORK.doi, "pmid": None}


def test_a_quote_that_crosses_passages_is_found_whole(backends, document):
    chunks = backends.collections.document(backends.projects.get("lab").collection, "d7")
    crossing = 0
    for one, other in pairwise(chunks):
        if one.section == other.section and other.char_start <= one.char_end + 1:
            start, end = one.char_end - 90, one.char_end + 90
            body = locate(backends, document.text[start:end], project="lab")
            place = body["places"][0]
            assert body["found"] == "exactly"
            assert place["char_start"] < one.char_end < place["char_end"]
            assert place["text"] == document.text[place["char_start"] : place["char_end"]]
            crossing += 1
    assert crossing > 20


def test_a_sentence_with_another_word_is_nearly_found_and_the_word_shown(backends, document):
    draw = random.Random(3)  # noqa: S311
    for start, end in sentences(document):
        words = document.text[start:end].split()
        at = draw.choice([n for n, word in enumerate(words) if word.isalpha() and n])
        body = locate(backends, " ".join([*words[:at], "zebra", *words[at + 1 :]]), project="lab")
        assert body["found"] == "nearly"
        [change] = [each for each in body["places"][0]["differences"] if "zebra" in each["quote"]]
        assert words[at] in change["text"]
        assert abs(body["places"][0]["char_start"] - start) < 20


def test_what_is_not_there_is_an_answer(backends):
    for where in ({"project": "lab"}, {"project": "lab", "doc_id": "d7"}, {}, {"project": "other"}):
        body = locate(backends, "Zebras of the southern plains seldom drink from rivers in the winter", **where)
        assert (body["found"], body["places"]) == ("not found", [])
        assert "query_hybrid" in body["warnings"][0]


def test_a_quote_is_looked_for_in_its_project_and_document_alone(backends, document):
    start, end = sentences(document)[0]
    quote = document.text[start:end]
    assert locate(backends, quote, project="other")["found"] == "not found"
    assert locate(backends, quote)["found"] == "not found"
    assert locate(backends, quote, project="lab", doc_id="note")["found"] == "not found"
    assert locate(backends, quote, project="lab", doc_id="d7")["found"] == "exactly"


def test_a_chunk_of_unknown_place_has_no_offsets(backends):
    [place] = locate(backends, ELSEWHERE[:60], project="lab")["places"]
    assert (place["doc_id"], place["char_start"], place["char_end"]) == ("note", None, None)


def test_sentences_of_real_records_are_found_in_the_corpus(backends):
    records = [each for each in islice(sample(), 40) if len(abstract_text(each)) > 400]
    for article in records[:15]:
        text = abstract_text(article)
        start, end = max(sentence_spans(text), key=lambda each: each[1] - each[0])
        body = locate(backends, text[start:end])
        place = body["places"][0]
        assert (body["found"], place["doc_id"], place["pmid"]) == ("exactly", f"pmid:{article.pmid}", article.pmid)
        assert place["text"] == text[place["char_start"] : place["char_end"]]
        assert place["title"] == article.title


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        ({"quote": "some words here", "project": "none"}, "INVALID_PROJECT", "Project 'none' not found"),
        ({"quote": "some words here", "project": "lab", "doc_id": "x"}, "INVALID_PROJECT", "has no document 'x'"),
        ({"quote": "some words here", "doc_id": "999"}, "INVALID_PROJECT", "PMID 999"),
        ({"quote": "some words here", "doc_id": "x' OR 1=1"}, "INVALID_ARG", "is not a PMID"),
        ({"quote": "?!... ---  ()"}, "INVALID_ARG", "give words"),
        ({"quote": "short"}, "INVALID_ARG", "at least"),
        ({"quote": "x " * 501}, "INVALID_ARG", "at most"),
    ],
)
def test_what_cannot_be_looked_for_is_explained(backends, arguments, code, sentence):
    outcome = call(locate_quote, arguments, backends)
    assert outcome.body["error"]["code"] == code
    assert sentence in outcome.body["error"]["message"]


def test_a_long_quote_of_common_words_ends(backends):
    assert locate(backends, ("the of and in to a " * 60)[:1_000], project="lab")["found"] == "not found"

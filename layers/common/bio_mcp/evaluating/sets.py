"""The sets that come with the product, each with a corpus of its own.

smoke: questions written for the bundled sample of PubMed records. curated: PubMedQA's 500 labelled questions of its
development half; an abstract's own question is asked, without its title, which is that question. Of every tenth
question the first paper is in the corpus a second time, as a retracted one, to see that it is not cited.
"""

import json
import lzma
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import as_file, files
from typing import Any

from bio_mcp.evaluating.questions import EvaluationSet, JudgedQuestion, Rationale, questions_in, version_of
from bio_mcp.literature.records import AbstractSection, Article, PartialDate, PublicationType, RetractionStatus

SAMPLE = "samples/pubmed.xml.gz"
SMOKE = "evaluating/sets/smoke.jsonl"
PUBMEDQA = "evaluating/sets/pubmedqa.jsonl.xz"
TENTH = 10
FIRST_TWIN = 99_000_000  # PMIDs of the retracted copies count on from here
RETRACTED_PUBLICATION = PublicationType("D016441", "Retracted Publication")


@cache
def smoke() -> EvaluationSet:
    """Some sixty questions to the bundled sample of PubMed records, a quarter of which it cannot answer."""
    content = _content(SMOKE)
    questions = with_retracted(questions_in(content))
    return EvaluationSet("smoke", version_of(content), questions, lambda: _with_twins(_sample(), questions))


@cache
def curated() -> EvaluationSet:
    """500 questions of PubMedQA, each answered by the abstract that it was drawn from, above all by its conclusion."""
    content = _content(PUBMEDQA)
    records = [json.loads(line) for line in lzma.decompress(content).splitlines()]
    questions = with_retracted([_asked(each) for each in records])
    return EvaluationSet(
        "curated", version_of(content), questions, lambda: _with_twins(map(_abstract, records), questions)
    )


def with_retracted(questions: Sequence[JudgedQuestion]) -> tuple[JudgedQuestion, ...]:
    """The questions, every tenth of those with an answer with a retracted copy of its first paper."""
    answerable = [each.question_id for each in questions if each.pmids]
    chosen = {each: str(FIRST_TWIN + number) for number, each in enumerate(answerable[::TENTH])}
    return tuple(
        replace(each, retracted=(chosen[each.question_id],)) if each.question_id in chosen else each
        for each in questions
    )


def _with_twins(articles: Iterable[Article], questions: Iterable[JudgedQuestion]) -> Iterator[Article]:
    twins = {each.pmids[0]: each.retracted[0] for each in questions if each.retracted}
    for article in articles:
        yield article
        if twin := twins.get(article.pmid):
            types = (*article.publication_types, RETRACTED_PUBLICATION)
            status = RetractionStatus.RETRACTED
            yield replace(article, pmid=twin, doi=None, pmcid=None, publication_types=types, retraction=status)


def _sample() -> Iterator[Article]:
    from bio_mcp.literature.medline import open_records

    with as_file(files("bio_mcp") / SAMPLE) as path:
        yield from (each for each in open_records(path) if isinstance(each, Article))


def _asked(record: Mapping[str, Any]) -> JudgedQuestion:
    pmid = record["pmid"]
    return JudgedQuestion(pmid, record["question"], (pmid,), (Rationale(pmid, record["conclusion"]),))


def _abstract(record: Mapping[str, Any]) -> Article:
    sections = [*record["sections"], ["CONCLUSION", record["conclusion"]]]
    return Article(
        pmid=record["pmid"],
        abstract=tuple(AbstractSection(label, None, text) for label, text in sections),
        publication_date=PartialDate(record["year"], int(record["year"])) if record["year"] else None,
        retraction=RetractionStatus.CLEAR,
    )


def _content(name: str) -> bytes:
    return (files("bio_mcp") / name).read_bytes()

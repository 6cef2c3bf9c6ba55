"""What tests of a change of the index do, in either engine, whether the model is another or the same."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from threading import Event, Semaphore

from bio_mcp.literature.records import Deletion
from bio_mcp.ports.models import Role
from bio_mcp.retrieval.passages import PassageQuery
from bio_mcp.scope import one_index
from bio_mcp.syncing.applying import apply_records
from bio_mcp.syncing.reindexing import begin, fill, of_role, switch


def revised(paper, number):
    return replace(paper, title=f"{paper.title} again {number}", pmid_version=paper.pmid_version + 1 + number)


def begun(corpus):
    """The next index, of the other model where there is one."""
    another, same = corpus.other_models[:1], corpus.model
    return begin(*(another or [same]), corpus, force=not another)


def ready(corpus):
    index = begun(corpus)
    fill(index, corpus)
    return index


def searched(corpus):
    return of_role(Role.SEARCHED, corpus).name


def nearness(corpus, pmid):
    """The cosine of the stored text of a paper to its own passages, 1 by one model and about 0 by two."""
    with one_index():
        [chunk] = corpus.passages.chunks([pmid])[pmid][:1]
        text = f"{corpus.documents.get(pmid).article.title}\n{chunk.text}"
        vector = corpus.embeddings.embed([text])[0]
        query = PassageQuery((), vector, within=frozenset({pmid}))
        return corpus.passages.hybrid_search(query)[0].sim


def missing(corpus, index):
    """The stored papers whose newest version an index does not have, and what it has of others."""
    heads = corpus.documents.heads(list(corpus.documents.pmids()))
    return {(pmid, head.version) for pmid, head in heads.items()} ^ set(index.passages.versions())


class Stop(Exception):
    """A kill, between two steps."""


STEPS = (ready, partial(switch, Role.NEXT), partial(switch, Role.PREVIOUS), partial(switch, Role.NEXT))


def while_others_work(corpus, papers, opened):
    """Change the model of a corpus there and back and there, while others that `opened` makes write and search it.

    Returns the number of writes, and how near a paper was to its own text in each search.
    """
    over, wrote = Event(), Semaphore(0)

    def write():
        try:
            with opened() as writer:
                for number in range(1_000):
                    if over.is_set():
                        return number
                    paper = papers[1 + number % (len(papers) - 1)]
                    apply_records([revised(paper, number)] if number % 5 else [Deletion(paper.pmid)], writer)
                    wrote.release()
            return number
        finally:
            wrote.release(1 + len(STEPS))  # what ended it is raised at the end, and not waited for

    def read():
        with opened() as reader:
            seen = [nearness(reader, papers[0].pmid)]
            while not over.is_set():
                seen.append(nearness(reader, papers[0].pmid))
        return seen

    with ThreadPoolExecutor(3) as threads:
        writing, reading = threads.submit(write), [threads.submit(read) for _ in range(2)]
        try:
            for step in STEPS:
                assert wrote.acquire(timeout=60)
                step(corpus)
            assert wrote.acquire(timeout=60)
        finally:
            over.set()
        return writing.result(), [sim for each in reading for sim in each.result()]

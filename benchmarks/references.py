"""How well are references checked? `python -m benchmarks.references [--fit] [--show]`

Real references: citation strings of reference lists whose PMID is among the records here, and records written in nine
styles and four file formats with the habits of people. Altered ones: year, author, title, journal or page exchanged,
one word of the title exchanged or left out, or a paper that does not exist. All are checked over the local NCBI, with
an empty corpus. Records with an even PMID were used to choose the thresholds (`--fit`); the figures are of the others.
"""

import argparse
import gzip
import lzma
import tarfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bio_mcp.deadline import NEVER
from bio_mcp.errors import Misconfigured
from bio_mcp.literature.medline import newest, parse
from bio_mcp.literature.records import Article
from bio_mcp.literature.references.files import read_references
from bio_mcp.literature.references.plain import parse_citation
from bio_mcp.literature.references.works import CitedWork
from bio_mcp.querying.references.checking import Checked, check_references
from tests.support.eutils_server.client import running
from tests.support.memory_corpus import Corpus
from tests.support.written_references import ALTERATIONS, FORMATS, Cited, Writer, altered, cited_of
from tests.tools.live import LiveDesk

DATA = Path(__file__).parents[2] / "shared" / "data" / "pubmed"
FILES = sorted(DATA.glob("*.xml.xz")) + sorted(DATA.glob("*.tar.xz"))
MANY = 1_000
AT_ONCE = 100


@dataclass(frozen=True)
class Case:
    """A reference, the PMID that is right, and how it was made."""

    work: CitedWork
    pmid: str
    made: str


def records() -> dict[str, Article]:
    """The newest version of every record of the dev files."""
    found: list[Any] = []
    for path in FILES:
        if path.suffixes[-2:] == [".tar", ".xz"]:
            with tarfile.open(path) as archive:
                members = [each for each in archive if each.name.endswith(".xml")]
                for each in members:
                    found += list(parse(archive.extractfile(each)))  # type: ignore[arg-type]
            continue
        with (gzip.open if path.suffix == ".gz" else lzma.open)(path) as file:
            found += list(parse(file))
    return {pmid: each for pmid, each in newest(found).items() if isinstance(each, Article)}


def printed(articles: dict[str, Article], even: bool) -> Iterator[Case]:
    """Citation strings of reference lists, each once, whose paper is here."""
    seen = set()
    for article in articles.values():
        for each in article.references:
            if (
                each.citation
                and each.pmid in articles
                and (int(each.pmid) % 2 == 0) is even
                and each.citation not in seen
            ):
                seen.add(each.citation)
                yield Case(parse_citation(each.citation), each.pmid, "printed")


def written(works: list[Cited], writer: Writer, made: str = "", mark: str = "") -> Iterator[Case]:
    """Each work in a format by chance."""
    for work in works:
        form = writer.rng.choice(FORMATS)
        text = getattr(writer, form)(work)
        while mark not in text.casefold():  # a style, or a habit, that leaves the altered field out
            text = getattr(writer, form)(work)
        read = read_references(text, "text" if form == "plain_text" else None)
        yield Case(read[0] if read else CitedWork(text=text), work.pmid, made or form)


def cases(articles: dict[str, Article], *, even: bool) -> tuple[list[Case], list[Case]]:
    """The real ones and the altered ones of a half."""
    writer = Writer(20261122)
    works = [work for each in articles.values() if (work := cited_of(each))]
    half = [each for each in works if (int(each.pmid) % 2 == 0) is even]
    writer.rng.shuffle(half)
    real = list(printed(articles, even))[:MANY]
    real += written(half[: MANY - len(real)], writer)
    wrong: list[Case] = []
    writer.titles_left_out = False
    rest = iter(half[MANY:])
    while len(wrong) < MANY:
        kind = ALTERATIONS[len(wrong) % len(ALTERATIONS)]
        right = next(rest)
        changed = altered(right, works, kind, writer.rng)
        wrong += written([changed], writer, kind, mark_of(right, changed, kind)) if changed else []
    return real, wrong


def mark_of(right: Cited, changed: Cited, kind: str) -> str:
    """What a text must have for the alteration to show."""
    words, were = changed.title.split(), right.title.split()
    if kind == "gap":
        place = next(
            (at for at, (one, other) in enumerate(zip(words, were, strict=False)) if one != other), len(words) - 1
        )
        return " ".join(words[place - 1 : place + 1]).casefold()
    new = [each for each in words if each not in were]
    return changed.first if kind == "page" else new[0][:5].casefold() if kind == "word" else ""


class Answering(Corpus):
    """An empty corpus, and the local NCBI."""

    def __init__(self, desk: LiveDesk) -> None:
        super().__init__()
        self.pubmed, self.lookup = desk.pubmed, desk.lookup

    @property
    def notices(self) -> None:
        """PubMed alone is asked."""
        raise Misconfigured("no Crossref here")


def checked(given: list[Case], backends: Any) -> list[Checked]:
    found: list[Checked] = []
    for start in range(0, len(given), AT_ONCE):
        some, reasons = check_references([each.work for each in given[start : start + AT_ONCE]], backends, NEVER)
        assert not reasons, reasons
        found += some
    return found


def is_right(case: Case, found: Checked) -> bool:
    return found.verdict in ("found", "retracted") and found.article is not None and found.article.pmid == case.pmid


def table(given: list[Case], counted: list[bool], meaning: str) -> str:
    by_kind: dict[str, list[bool]] = defaultdict(list)
    for case, each in zip(given, counted, strict=True):
        by_kind[case.made].append(each)
    rows = [f"  {name:<12}{sum(each):>6} of {len(each):>5}" for name, each in sorted(by_kind.items())]
    return "\n".join([f"{meaning}: {sum(counted)} of {len(counted)} ({sum(counted) / len(counted):.1%})", *rows])


def show(given: list[Case], found: list[Checked], wanted: list[bool]) -> None:
    for case, each, wrong in zip(given, found, wanted, strict=True):
        if wrong:
            print(f"{case.made} {case.pmid}: {each.verdict} {each.article and each.article.pmid} {each.reason}")
            print(f"   {case.work}\n   {each.agrees} {each.differs}\n   {each.article and each.article.title}")


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--fit", action="store_true", help="the half that thresholds are chosen by")
    arguments.add_argument("--show", action="store_true", help="what was judged wrongly")
    given = arguments.parse_args()
    real, wrong = cases(records(), even=given.fit)
    with running(FILES) as ncbi:
        desk = LiveDesk(ncbi)
        began = time.process_time()
        found_real, found_wrong = checked(real, Answering(desk)), checked(wrong, Answering(desk))
        cpu = time.process_time() - began
        asked = len(ncbi.control.requests())
        desk.close()
    right = [is_right(*each) for each in zip(real, found_real, strict=True)]
    confirmed = [each.verdict in ("found", "retracted") for each in found_wrong]
    if given.show:
        show(real, found_real, [not each for each in right])
        show(wrong, found_wrong, confirmed)
    print(table(real, right, "real references found, with the right PMID"))
    print(
        "  the others: "
        + ", ".join(
            f"{n} {name}"
            for name, n in Counter(e.verdict for e, ok in zip(found_real, right, strict=True) if not ok).most_common()
        )
    )
    print(table(wrong, confirmed, "altered references confirmed wrongly"))
    many = len(real) + len(wrong)
    print(f"{asked} requests to NCBI for {many} references, {1000 * cpu / many:.1f} ms of CPU each")


if __name__ == "__main__":
    main()

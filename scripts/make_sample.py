"""Choose the bundled sample from PubMed XML files: a few hundred records that show what the product can do.

    python scripts/make_sample.py UPDATE_FILE.xml.xz SELECTION.xml.gz

All that is retracted, then the best evidence, then corrected and translated papers of the first file; the rest are
papers with an abstract from the second. Records are copied unchanged. The same files give the
same sample, byte for byte.
"""

import gzip
import lzma
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from lxml import etree

from bio_mcp.literature.medline import open_records
from bio_mcp.literature.records import Article, RetractionStatus

TOTAL = 350  # records
LARGEST = 14_000  # bytes of XML of a record, or reference lists fill the sample
INTO = Path(__file__).resolve().parent.parent / "layers/common/bio_mcp/samples/pubmed.xml.gz"
EVIDENCE = {
    "Systematic Review",
    "Meta-Analysis",
    "Randomized Controlled Trial",
    "Practice Guideline",
    "Observational Study",
    "Comparative Study",
    "Multicenter Study",
}
DOCTYPE = (
    '<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2019//EN" '
    '"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_190101.dtd">'
)
Rule = tuple[Callable[[Article], bool], int]


def has_type(article: Article, names: set[str]) -> bool:
    return any(each.name in names for each in article.publication_types)


RULES: tuple[Rule, ...] = (  # which, and how many at most
    (lambda each: each.retraction in (RetractionStatus.RETRACTED, RetractionStatus.NOTICE), 12),
    (lambda each: bool(each.abstract) and has_type(each, EVIDENCE), 70),
    (lambda each: bool(each.abstract) and each.retraction is RetractionStatus.CORRECTED, 25),
    (lambda each: bool(each.abstract) and has_type(each, {"English Abstract"}), 15),
)
REST: tuple[Rule, ...] = (
    (lambda each: bool(each.abstract) and bool(each.mesh), TOTAL),
    (lambda each: bool(each.abstract) and has_type(each, {"Review", "Case Reports"}), 50),
    (lambda each: bool(each.abstract) and each.abstract[0].label is not None, TOTAL),
    (lambda each: bool(each.abstract), TOTAL),
)


def choose(path: Path, rules: tuple[Rule, ...], sizes: dict[str, int], room: int) -> list[str]:
    """PMIDs by the first rule that has room for them, each once."""
    articles = {each.pmid: each for each in open_records(path) if isinstance(each, Article)}
    chosen: dict[str, None] = {}
    for rule, most in rules:
        fits = (pmid for pmid, each in articles.items() if pmid not in chosen and rule(each))
        small = [pmid for pmid in fits if sizes[pmid] <= LARGEST]
        chosen.update(dict.fromkeys(small[:most]))
    return list(chosen)[:room]


def elements(path: Path) -> Iterator[tuple[str, bytes]]:
    """PMID and XML of each article."""
    open_archive = gzip.open if path.suffix == ".gz" else lzma.open
    with open_archive(path) as file:
        for _, element in etree.iterparse(file, tag="PubmedArticle"):
            element.tail = None
            yield element.findtext("MedlineCitation/PMID"), etree.tostring(element, encoding="utf-8")
            element.clear()


def main(update_file: Path, selection: Path) -> None:
    xml = dict(elements(update_file)) | dict(elements(selection))
    sizes = {pmid: len(each) for pmid, each in xml.items()}
    chosen = choose(update_file, RULES, sizes, TOTAL)
    more = [pmid for pmid in choose(selection, REST, sizes, len(xml)) if pmid not in chosen]
    pmids = sorted([*chosen, *more[: TOTAL - len(chosen)]], key=int)
    lines = ['<?xml version="1.0" encoding="utf-8"?>', DOCTYPE, "<PubmedArticleSet>"]
    text = "\n".join([*lines, *(xml[pmid].decode() for pmid in pmids), "</PubmedArticleSet>\n"])
    INTO.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{len(pmids)} records, {INTO.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))

"""The small utilities: ESpell (a likelier word), ECitMatch (a citation's PMID)."""

import difflib
from collections import Counter
from xml.sax.saxutils import escape

from tests.support.eutils_server.answers import Answer, Params, as_text, as_xml
from tests.support.eutils_server.catalogue import Catalogue
from tests.support.eutils_server.fields import ALL, field_of, matcher, words_of
from tests.support.eutils_server.records import Record, normalised
from tests.support.eutils_server.state import Ncbi


def espell(ncbi: Ncbi, params: Params) -> Answer:
    """The query with each unknown word exchanged for the nearest one of the titles; empty if there is none."""
    known = title_words(ncbi.catalogue)
    corrected = [word if word in known else nearest(word, known) for word in normalised(params.get("term")).split()]
    text = " ".join(corrected)
    changed = text if text != normalised(params.get("term")).strip() else ""
    inner = f"<Database>pubmed</Database><Query>{escape(params.get('term'))}</Query>"
    return as_xml("eSpellResult", f"{inner}<CorrectedQuery>{escape(changed)}</CorrectedQuery><SpelledQuery/><ERROR/>")


def title_words(catalogue: Catalogue) -> Counter[str]:
    """How often each word stands in the titles."""
    return Counter(word for record in catalogue.visible.values() for word in normalised(record.title).split())


def nearest(word: str, known: Counter[str]) -> str:
    """Of the words most alike, the most frequent; the word itself if none is alike."""
    alike = [one for one in known if one[:1] == word[:1] and abs(len(one) - len(word)) < 3]
    return max(difflib.get_close_matches(word, alike, 5, 0.8), key=known.__getitem__, default=word)


def ecitmatch(ncbi: Ncbi, params: Params) -> Answer:
    """Lines `journal|year|volume|page|author|key|`, answered with the PMID, NOT_FOUND or AMBIGUOUS behind."""
    lines = [line for line in params.get("bdata").replace("\r", "\n").split("\n") if line.strip()]
    return as_text("".join(f"{line.rstrip('|')}|{_match(ncbi.catalogue, line)}\n" for line in lines))


def _match(catalogue: Catalogue, line: str) -> str:
    journal, year, volume, page, author, *_ = [*line.split("|"), "", "", "", "", ""]
    in_journal = matcher(field_of("ta") or ALL, journal)
    pmids = catalogue.matching(("Journal", journal.lower()), in_journal)
    if not pmids:
        return "NOT_FOUND;INVALID_JOURNAL"
    found = [
        record for pmid in sorted(pmids) if (record := catalogue.visible[pmid]) and _fits(record, year, volume, page)
    ]
    found = [record for record in found if not author or normalised(author).strip() in words_of(record, ALL)]
    if not found:
        return "NOT_FOUND"
    return str(found[0].pmid) if len(found) == 1 else f"AMBIGUOUS ({len(found)} citations)"


def _fits(record: Record, year: str, volume: str, page: str) -> bool:
    pages = "".join(record.elements("MedlinePgn")[:1]).split("-")[0]
    years = [day[:4] for day in record.dates.get("pdat", ())]
    volumes = record.elements("Volume")
    return (not year or year in years) and (not volume or volume in volumes) and (not page or page == pages)

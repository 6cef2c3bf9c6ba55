"""Expected parses that were made without this parser: every field of every row is compared."""

from tests.literature.medline.records import GOLDENS, element, fixture_records, fold, parsed
from tests.support.cases import case

MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def test_a_record_reads_as_its_golden_says():
    assert len(GOLDENS) >= 120
    for golden in GOLDENS:
        raw = dict(fixture_records()[golden["pmid"]])[golden["version"]]
        with case(f"{golden['pmid']}v{golden['version']}"):
            check(golden, parsed(raw), element(raw))


def check(golden, article, xml):
    assert (article.pmid, str(article.pmid_version), article.status) == (
        golden["pmid"], golden["version"], golden["status"],
    )  # fmt: skip
    check_text(golden, article, has_math=xml.find(".//{*}math") is not None)
    check_journal(golden, article)
    check_people(golden, article)
    check_links(golden, article)
    check_indexing(golden, article)
    check_dates(golden, article, xml)


def letters(text):
    return sorted(c for c in fold(text) or "" if c.isalnum() and c.isascii())


def check_text(golden, article, *, has_math):
    same = letters if has_math else fold  # a formula is laid out, so only its letters can be compared
    assert same(article.title) == same(golden["title"] or golden["vernacular"])
    assert fold(article.vernacular_title) == fold(golden["vernacular"])
    assert [(s.label, same(s.text)) for s in article.abstract] == [(lab, same(t)) for lab, t in golden["abstract"]]


def check_journal(golden, article):
    journal = article.journal
    assert (
        journal.iso_abbreviation,
        journal.title,
        journal.issn,
        journal.volume,
        journal.issue,
        article.pages,
    ) == tuple(golden[key] for key in ("journal_iso", "journal", "issn", "volume", "issue", "pages"))
    assert list(article.languages) == golden["languages"]


def check_people(golden, article):
    names = [(a.last_name, a.fore_name, a.initials, a.suffix, a.collective_name) for a in article.authors]
    expected = [
        tuple((a[key] or "").strip() or None for key in ("last", "fore", "initials", "suffix", "collective"))
        for a in golden["authors"]
    ]
    assert [tuple(map(fold, name)) for name in names] == [tuple(map(fold, name)) for name in expected]
    assert len(article.authors) == golden["author_count"]


def check_links(golden, article):
    assert article.doi == next(iter(golden["doi_articleid"] + golden["doi_elocation"]), None)
    assert article.pmcid == next(iter(golden["pmc"]), None)
    assert [[c.kind, c.pmid] for c in article.corrections] == golden["refs"]
    assert (len(article.references), len(article.grants)) == (golden["reference_count"], golden["grants"])


def check_indexing(golden, article):
    assert [kind.name for kind in article.publication_types] == golden["pubtypes"]
    assert [[h.name, [q.name for q in h.qualifiers]] for h in article.mesh] == golden["mesh"]
    assert list(map(fold, article.keywords)) == list(map(fold, golden["keywords"]))


def check_dates(golden, article, xml):
    statuses = {"edat": "pubmed", "crdt": "entrez", "mhda": "medline"}
    for ours, status in statuses.items():
        expected = golden[ours]
        if xml.find(f".//PubMedPubDate[@PubStatus='{status}']/Hour") is None:
            expected = expected and expected.removesuffix("T00:00")  # the golden fills in an hour that is not there
        assert getattr(article, ours) == expected
    assert (article.date_revised and article.date_revised.isoformat()) == golden["date_revised"]
    assert (article.electronic_date and article.electronic_date.iso) == golden["articledate"]
    check_publication_date(golden["pubdate_raw"] or {}, article.publication_date)


def check_publication_date(raw, found):
    if "MedlineDate" in raw:
        assert found.text == raw["MedlineDate"]
        assert str(found.year) in raw["MedlineDate"]
        return
    assert str(found.year) == raw["Year"]
    assert (found.month is not None) == ("Month" in raw or raw.get("Season", "")[:3] in MONTHS)
    assert (found.day or 0) == int(raw.get("Day", 0))
    assert raw.get("Season", "") in found.text

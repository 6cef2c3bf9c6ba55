import json
import re
import unicodedata

import pytest

from bio_mcp.literature.citing import STYLES, cite
from tests.literature.citing.goldens import articles, goldens
from tests.literature.citing.raw import facts
from tests.literature.medline.records import fold

PMIDS = sorted(goldens(), key=int)
STRINGS = ("apa_string", "mla_string", "vancouver")

GREEK = ("alpha", "beta", "gamma", "delta", "epsilon", "kappa")


def letters(text):
    """Letters only, folded: what two styles of one title share whatever their case and punctuation."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", fold(text)).casefold())


def named(pmid):
    return [surname or group for surname, group in facts(pmid).people if surname or group]


def position(citation, name, start=0):
    return letters(citation).find(letters(name), start)


def test_there_are_two_hundred_records_in_six_styles():
    assert len(PMIDS) == 200
    assert all(set(goldens()[pmid]) == set(STYLES) and len(STYLES) == 6 for pmid in PMIDS)


@pytest.mark.parametrize("style", STYLES)
def test_every_record_is_cited_as_was_reviewed(style):
    changed = {pmid for pmid in PMIDS if cite(articles()[pmid], style) != goldens()[pmid][style]}
    assert changed == set()


@pytest.mark.parametrize("style", ["ris", "bibtex", "csl_json"])
def test_reference_managers_get_every_author(style):
    for pmid in PMIDS:
        citation = letters(plain_latex(goldens()[pmid][style]))
        assert [name for name in named(pmid) if letters(name) not in citation] == [], pmid


def plain_latex(text):
    def letter(found):
        return unicodedata.lookup(f"GREEK SMALL LETTER {found[1].upper()}") if found[1] in GREEK else found[0]

    return re.sub(r"\$\\(?:var)?(\w+)\$", letter, text).replace("\\&", "&")


def test_apa_names_twenty_authors_or_the_first_nineteen_and_the_last():
    for pmid in PMIDS:
        names, citation = named(pmid), goldens()[pmid]["apa_string"]
        whole = facts(pmid).complete
        shown = names[:20] if len(names) <= 20 or not whole else [*names[:19], names[-1]]
        start = 0
        for name in shown:
            at = position(citation, name, start)
            assert at >= 0, (pmid, name)
            start = at + len(letters(name))
        assert (". . ." in citation) == (len(names) > 20 and whole), pmid
        assert ("et al." in citation.partition("(")[0]) == (not whole), pmid


def test_mla_names_two_authors_or_the_first_of_more():
    for pmid in PMIDS:
        names, citation = named(pmid), goldens()[pmid]["mla_string"]
        head = citation.partition("“")[0]
        assert all(position(citation, name) >= 0 for name in names[: 1 if len(names) > 2 else 2]), pmid
        assert ("et al." in head) == (len(names) > 2 or (not facts(pmid).complete and bool(names))), pmid


def test_vancouver_names_six_authors_then_et_al():
    for pmid in PMIDS:
        names, citation = named(pmid), goldens()[pmid]["vancouver"]
        assert all(position(citation, name) >= 0 for name in names[:6]), pmid
        if names and not facts(pmid).book:
            assert ("et al. " in citation) == (len(names) > 6 or not facts(pmid).complete), pmid


@pytest.mark.parametrize("style", STYLES)
def test_the_year_is_one_that_the_record_prints(style):
    for pmid in PMIDS:
        assert any(year in goldens()[pmid][style] for year in facts(pmid).years), pmid


@pytest.mark.parametrize("style", STYLES)
def test_the_doi_is_there_and_whole(style):
    for pmid in PMIDS:
        doi, citation = facts(pmid).doi, goldens()[pmid][style]
        if doi:
            assert doi in citation.replace("\\%", "%"), pmid
        else:
            assert "doi.org" not in citation, pmid


@pytest.mark.parametrize("style", STYLES)
def test_the_title_has_every_letter(style):
    for pmid in PMIDS:
        title, citation = facts(pmid).title.replace(" (author's transl)", ""), goldens()[pmid][style]
        if title and style != "bibtex":
            text = json.loads(citation)["title"] if style == "csl_json" else citation
            text = text.replace(" (author's transl)", "")
            assert letters(title) in letters(text) or "math" in title or "<" in title or "^(" in text, pmid


def whole_pages(printed):
    """`737-8` -> 737, 738, by arithmetic and not by the product's text rules."""
    found = re.fullmatch(r"(\d+)-(\d+)", printed or "")
    if not found:
        return None
    first, last = int(found[1]), found[2]
    return first, int(last) if int(last) >= first else first - first % 10 ** len(last) + int(last)


def test_apa_and_ris_print_ranges_in_full():
    ranges = {pmid: whole_pages(facts(pmid).pages) for pmid in PMIDS}
    counted = 0
    for pmid, pages in ranges.items():
        if pages and pages[0] != pages[1] and "Advance online" not in goldens()[pmid]["apa_string"]:
            counted += 1
            assert f"{pages[0]}–{pages[1]}" in goldens()[pmid]["apa_string"]
            assert f"SP  - {pages[0]}\nEP  - {pages[1]}\n" in goldens()[pmid]["ris"]
            assert json.loads(goldens()[pmid]["csl_json"])["page"] == f"{pages[0]}-{pages[1]}"
    assert counted > 100


def test_volume_and_issue_stand_in_every_string():
    for pmid in PMIDS:
        volume, issue = facts(pmid).volume, facts(pmid).issue
        if volume and issue and volume[0].isdigit():
            assert f", {volume}({issue})" in goldens()[pmid]["apa_string"]
            assert f"vol. {volume}, " in goldens()[pmid]["mla_string"]
            assert f";{volume}({issue})" in goldens()[pmid]["vancouver"]


@pytest.mark.parametrize("style", STRINGS)
def test_punctuation_is_never_doubled_and_nothing_is_left_empty(style):
    wrong = re.compile(r"\.\.|,,|\s,|\s\.(?!\d)|\(\)|\[\]|[?!]\.|None|  |“”|, \.|;;|::")
    for pmid in PMIDS:
        title = articles()[pmid].title or ""
        citation = goldens()[pmid][style].replace(". . .", "…").replace("...", "…")
        citation = citation.replace(facts(pmid).doi or "\0", "DOI")
        found = wrong.search(citation)
        assert not found or found[0] in title, citation
        assert "\n" not in citation


def test_a_retracted_paper_says_so_in_every_style():
    retracted = [pmid for pmid in PMIDS if facts(pmid).retracted]
    assert len(retracted) >= 3
    for pmid in retracted:
        assert all("etract" in citation for citation in goldens()[pmid].values())

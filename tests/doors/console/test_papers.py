"""The page of a paper: record, status, citations, versions and what changed between them."""

import pytest

from bio_mcp.doors.console import search
from bio_mcp.literature.citing import STYLES, cite
from bio_mcp.literature.records import Databank
from bio_mcp.syncing.applying import apply_records
from tests.doors.console.pages import Page, browser
from tests.doors.console.revised import VERSIONS
from tests.support.memory_corpus import article
from tests.support.sample_corpus import Corpus, corpus


@pytest.fixture(scope="module")
def revised(tmp_path_factory):
    """A corpus with a paper that was revised twice, the second time retracted."""
    made = Corpus(tmp_path_factory.mktemp("revised"), [])
    for version in (*VERSIONS, article("6", databanks=(Databank("ISRCTN", ("ISRCTN12345678",)),))):
        apply_records([version], made)
    yield made
    made.close()


@pytest.fixture(scope="module")
def page(revised):
    return Page(browser(revised).get("/papers/7"))


def test_it_shows_the_record(get):
    paper = corpus().articles[0]
    page = get(f"/papers/{paper.pmid}")
    assert page.text("h1") == " ".join(paper.title.split())
    assert f"https://pubmed.ncbi.nlm.nih.gov/{paper.pmid}/" in page.links
    assert paper.authors[0].short_name in page.source


def test_a_retraction_is_reported_first_and_names_its_notice(page):
    assert page.text("strong", cls="retracted") == "Retracted"
    assert "This paper was retracted" in page.source
    assert "Retraction in: J Test. 2021;1:1" in page.source
    assert {"/papers/6", "https://pubmed.ncbi.nlm.nih.gov/8/"} <= set(page.links)


def test_its_other_addresses_are_linked(page):
    assert {"https://doi.org/10.1000/x", "https://pmc.ncbi.nlm.nih.gov/articles/PMC7/"} <= set(page.links)


def test_trials_that_it_names_are_linked(revised, page):
    registered = Page(browser(revised).get("/papers/6"))
    assert "https://www.isrctn.com/ISRCTN12345678" in registered.links
    assert "(ISRCTN)" in registered.source
    assert "Registered as" not in page.source


def test_what_its_abstract_states_of_the_study_is_listed(tmp_path):
    text = "We included 334 patients. The risk of stroke fell (HR 0.72, 95% CI 0.58-0.90); RR 0.5, 95% CI 0.4-0.6."
    made = Corpus(tmp_path, [])
    apply_records([article("9", "Niacin", text), article("10", "Nothing", "Nothing is stated.")], made)
    page = Page(browser(made).get("/papers/9"))
    assert "n = 334; HR 0.72, 95 % CI 0.58 to 0.90" in page.source
    assert "stroke: HR 0.72 (95 % CI 0.58 to 0.9)" in page.source
    assert "study-title" not in Page(browser(made).get("/papers/10")).source
    made.close()


def test_it_is_cited_in_six_styles(page):
    shown = [text for _, _, text in page.all("pre")]
    assert shown == [cite(VERSIONS[-1], style) for style in search.STYLES]
    assert set(search.STYLES) == set(STYLES)
    assert len(shown) == 6


def test_versions_are_shown_newest_first_with_what_each_changed(page):
    assert [attributes["value"] for _, attributes, _ in page.all("li") if "value" in attributes] == ["3", "2", "1"]
    fields = [text for _, _, text in page.all("dt")]
    assert fields[:3] == ["retraction", "notices", "abstract"]
    assert [text for _, _, text in page.all("del") if "rare" in text] == [" rare"]
    assert [text for _, _, text in page.all("ins") if "common" in text] == [" common"]
    assert fields[3:] == ["title"]


@pytest.mark.parametrize(
    ("pmid", "status", "words"), [("999", 404, "A topic that finds it brings it in."), ("x", 400, "PMID")]
)
def test_a_paper_that_is_not_there_is_reported_as_a_page(get, pmid, status, words):
    page = get(f"/papers/{pmid}")
    assert page.status == status
    assert words in page.text("div", cls="problem")
    assert ("https://pubmed.ncbi.nlm.nih.gov/999/" in page.links) == (pmid == "999")

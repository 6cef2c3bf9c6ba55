"""Where a full text is looked for, what each place says, and how it is cut."""

from dataclasses import replace

import pytest

from bio_mcp.deadline import NEVER
from bio_mcp.errors import Misconfigured, NcbiFailed, NotFound, UpstreamFailed
from bio_mcp.literature.documents import FullText, Licence, Table, TextSection
from bio_mcp.ports.ncbi import ArticleIds
from bio_mcp.ports.scholarly import Copies, Copy, EuropePmcRecord, Version
from bio_mcp.querying.full_text import choose, find_full_text, fit, length

DOI = "10.1000/a"


def text(title, *, withheld=False, pmcid=None):
    sections = () if withheld else (TextSection("Methods", 1, "How."),)
    return FullText(pmcid, None, None, title, "", Licence("CC BY 4.0"), sections, withheld=withheld)


class World:
    """PMID 7 with a DOI, in PubMed Central where `pmc` has it; each place has what it is given."""

    def __init__(self, pmc=None, records=(), texts=(), copies=(), broken=(), unasked=()):
        self.pmc, self.records, self.texts, self.known = pmc, list(records), dict(texts), tuple(copies)
        self.broken, self.unasked, self.asked = set(broken), set(unasked), []

    lookup = pubmed = property(lambda self: self)

    @property
    def europe_pmc(self):
        return self._place("europe_pmc")

    @property
    def open_access(self):
        return self._place("open_access")

    def _place(self, name):
        if name in self.unasked:
            raise Misconfigured(f"{name} is not asked here")
        self.asked.append(name)
        if name in self.broken:
            raise UpstreamFailed(f"{name} is away")
        return _EuropePmc(self) if name == "europe_pmc" else self

    def convert(self, ids, _kind, **_):
        if "converter" in self.broken:
            raise NcbiFailed("NCBI is away")
        return {each: ArticleIds("7", "PMC9" if self.pmc else None, DOI) for each in ids if each in ("7", DOI)}

    def esummary(self, *_, **__):
        raise NcbiFailed("NCBI is away")

    esearch = esummary

    def full_text(self, _pmcid, **_):
        self.asked.append("pubmed_central")
        if "pubmed_central" in self.broken:
            raise NcbiFailed("NCBI is away")
        return self.pmc

    def copies(self, doi, **_):
        assert doi == DOI
        return Copies(doi, "A paper", self.known)


class _EuropePmc:
    def __init__(self, world):
        self._world = world

    def articles(self, ids, **_):
        found = {}
        for each in ids:
            for record in self._world.records:
                if each in (record.pmid, record.doi, record.id):
                    found[each] = record
        return found

    def full_text(self, text_id, **_):
        return self._world.texts[text_id]


ARTICLE = EuropePmcRecord("MED", "7", "The article", pmid="7", doi=DOI)
PREPRINT = EuropePmcRecord("PPR", "PPR1", "The preprint", journal="medRxiv", text_id="PPR1", licence="cc by")
AT = "https://repository.example.org/1"
COPY = Copy(AT, f"{AT}.pdf", "acceptedVersion", "repository", "cc-by")


def answers(climbed):
    return [(each.place, each.outcome) for each in climbed.rungs]


def test_nobody_else_is_asked_once_a_place_has_the_text():
    world = World(pmc=text("In PMC"))
    climbed = find_full_text("7", world, NEVER)
    assert (climbed.text.title, climbed.place) == ("In PMC", "pubmed_central")
    assert answers(climbed) == [("pubmed_central", "available")]
    assert climbed.rungs[0].url == "https://pmc.ncbi.nlm.nih.gov/articles/PMC9/"
    assert world.asked == ["pubmed_central"]


def test_a_text_that_pubmed_central_lacks_is_read_at_europe_pmc():
    record = EuropePmcRecord("MED", "7", "The article", pmid="7", doi=DOI, text_id="PMC9")
    climbed = find_full_text(DOI, World(records=[record], texts={"PMC9": text("There")}), NEVER)
    assert (climbed.text.title, climbed.place) == ("There", "europe_pmc")
    assert answers(climbed) == [("pubmed_central", "absent"), ("europe_pmc", "available")]
    assert climbed.rungs[1].url == "https://europepmc.org/article/MED/7"


def test_a_withheld_article_is_read_as_its_preprint_which_is_answers():
    linked = replace(ARTICLE, preprints=(Version("PPR", "PPR1"),))
    world = World(pmc=text("Withheld", withheld=True), records=[linked, PREPRINT], texts={"PPR1": text("The preprint")})
    climbed = find_full_text("7", world, NEVER)
    assert (climbed.text.title, climbed.place, climbed.ids.pmid) == ("The preprint", "preprint", "7")
    assert answers(climbed) == [("pubmed_central", "withheld"), ("europe_pmc", "withheld"), ("preprint", "available")]
    assert "nobody has reviewed" in climbed.rungs[2].detail


def test_without_a_text_the_address_of_a_legal_copy_is_reported_and_not_fetched():
    climbed = find_full_text("7", World(records=[ARTICLE], copies=[COPY]), NEVER)
    assert climbed.text is None
    assert answers(climbed)[2:] == [("unpaywall", "available"), ("publisher", "available")]
    assert (climbed.rungs[2].url, climbed.rungs[2].licence) == (COPY.pdf_url, "cc-by")
    assert climbed.rungs[3].url == f"https://doi.org/{DOI}"
    assert climbed.title == "The article"


def test_an_article_that_no_place_has_is_not_found_with_the_outcome_of_each():
    with pytest.raises(NotFound, match="fetchArticleDetails") as raised:
        find_full_text("7", World(), NEVER)
    assert [(each["place"], each["outcome"]) for each in raised.value.details["rungs"]] == [
        ("pubmed_central", "absent"), ("europe_pmc", "absent"), ("unpaywall", "absent"), ("publisher", "available"),
    ]  # fmt: skip


@pytest.mark.parametrize("broken", ["converter", "europe_pmc", "open_access"])
def test_a_place_that_fails_is_never_one_that_has_nothing(broken):
    with pytest.raises(UpstreamFailed) as raised:
        find_full_text("7", World(broken=[broken]), NEVER)
    assert raised.value.details["status"] == "upstream_failed"
    assert "failed" in {each["outcome"] for each in raised.value.details["rungs"]}


def test_a_place_that_fails_does_not_keep_the_others_from_being_asked():
    record = EuropePmcRecord("MED", "7", "The article", pmid="7", doi=DOI, text_id="PMC9")
    world = World(pmc=text("x"), records=[record], texts={"PMC9": text("There")}, broken=["pubmed_central"])
    climbed = find_full_text("7", world, NEVER)
    assert (climbed.place, answers(climbed)[0]) == ("europe_pmc", ("pubmed_central", "failed"))
    assert find_full_text("7", World(broken=["europe_pmc"], copies=[COPY]), NEVER).rungs[1].outcome == "failed"


def test_a_service_that_may_not_be_asked_is_reported_and_not_counted_as_a_failure():
    world = World(unasked=["europe_pmc", "open_access"])
    with pytest.raises(NotFound) as raised:
        find_full_text("7", world, NEVER)
    outcomes = [each["outcome"] for each in raised.value.details["rungs"]]
    assert outcomes == ["absent", "not_asked", "not_asked", "available"]
    assert world.asked == []


def test_a_withheld_article_stays_an_answer_where_nobody_else_has_it():
    climbed = find_full_text("7", World(pmc=text("Withheld", withheld=True), broken=["europe_pmc"]), NEVER)
    assert (climbed.text.title, climbed.has_text) == ("Withheld", False)


TABLE = Table("Table 1", "Doses", ("a | b", "1 | 2"))
SECTIONS = (
    TextSection("Introduction", 1, "One sentence. " * 30),
    TextSection("Methods", 1, "How it was done.", (TABLE,)),
    TextSection("Patients", 2, "Who took part."),
    TextSection("Statistics", 3, "How it was counted."),
    TextSection("Results", 1, "What was found."),
)


def titles(sections):
    return [section.title for section in sections]


def test_a_section_is_chosen_with_what_stands_below_it():
    assert titles(choose(SECTIONS, ["METHOD"])) == ["Methods", "Patients", "Statistics"]
    assert titles(choose(SECTIONS, ["patients", "results"])) == ["Patients", "Statistics", "Results"]
    assert titles(choose(SECTIONS, [])) == titles(SECTIONS)
    assert choose(SECTIONS, ["discussion"]) == []


@pytest.mark.parametrize("budget", [10, 250, 300, 435, 500, 520, 600, 100_000])
@pytest.mark.parametrize("with_tables", [True, False])
def test_what_is_shown_never_exceeds_the_budget_and_nothing_is_lost(budget, with_tables):
    shown = fit(SECTIONS, budget, with_tables)
    texts = sum(length(section) for section in shown.sections)
    assert texts <= max(budget, 10) + len(shown.cut or "")
    named = titles(shown.sections) + list(shown.left_out)
    assert named == titles(SECTIONS)
    for section, whole in zip(shown.sections, SECTIONS, strict=False):
        assert whole.text.startswith(section.text)
        assert section.text == whole.text or section.title == shown.cut


def test_a_cut_ends_with_a_sentence():
    shown = fit(SECTIONS, 300, with_tables=True)
    assert shown.cut == "Introduction"
    assert shown.sections[0].text.endswith("sentence.")


def test_a_section_whose_table_has_no_room_is_reported_to_be_cut():
    before = length(SECTIONS[0])
    section = TextSection("Methods", 1, "How it was done. " * 20, (TABLE,))
    shown = fit([SECTIONS[0], section], before + length(section) - 5, with_tables=True)
    assert (shown.cut, shown.sections[1].tables) == ("Methods", ())

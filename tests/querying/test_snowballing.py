"""Citations are followed by iCite, or by NCBI where that knows or gives nothing, and counted by seed."""

from types import SimpleNamespace

import pytest

from bio_mcp.deadline import Deadline
from bio_mcp.errors import DeadlineExceeded, Misconfigured, NcbiFailed, UpstreamFailed
from bio_mcp.ports.ncbi import REFERENCES, Link, LinkSet
from bio_mcp.ports.scholarly import Metrics
from bio_mcp.querying.snowballing import ICITE, NCBI, known_to, snowball
from tests.support.hooked import raising
from tests.support.memory_corpus import Corpus, article


class Icite:
    """The figures of these papers: PMID -> (references, cited by)."""

    def __init__(self, **papers):
        self.papers, self.asked = papers, []

    def of(self, pmids, **_):
        self.asked.append(list(pmids))
        known = {each: self.papers[f"p{each}"] for each in pmids if f"p{each}" in self.papers}
        return {
            pmid: Metrics(pmid, references=tuple(references.split()), cited_by=tuple(cited_by.split()))
            for pmid, (references, cited_by) in known.items()
        }


class Ncbi:
    """Each paper refers to 900 and is cited by 901."""

    def elink(self, pmids, *, link_name, **_):
        other = "900" if link_name == REFERENCES else "901"
        return tuple(LinkSet(pmid, (Link(other), Link(pmid))) for pmid in pmids)


class Broken:
    """A service that fails."""

    def __init__(self, failure):
        self._failure = failure

    def __getattr__(self, _name):
        raise self._failure


def backends(icite, ncbi=None):
    made = Corpus(article("10"))
    made.metrics, made.pubmed = icite, ncbi or Broken(AssertionError("NCBI is not to be asked"))
    return made


TWO = Icite(p1=("10 11 2", "20"), p2=("10", "20 21 1"), p10=("30", "1 2 40"))


def order(found):
    return [each.pmid for each in found.papers]


def test_what_most_seeds_name_comes_first_then_the_newest_and_seeds_are_not_found():
    found = snowball(["1", "2"], "both", 1, backends(TWO), Deadline(20))
    assert order(found) == ["20", "10", "21", "11"]
    assert [sorted(each.seeds) for each in found.papers[:2]] == [["1", "2"], ["1", "2"]]
    assert [sorted(each.ways) for each in found.papers[:2]] == [["citations"], ["references"]]
    assert (found.sources, found.reasons, found.unlinked) == ([ICITE], [], [])


def test_one_direction_alone_is_followed():
    assert order(snowball(["1", "2"], "references", 1, backends(TWO), Deadline(20))) == ["10", "11"]
    assert order(snowball(["1", "2"], "citations", 1, backends(TWO), Deadline(20))) == ["20", "21"]


def test_a_second_step_follows_those_that_most_seeds_name():
    icite = Icite(**TWO.papers, p20=("", ""), p21=("", ""), p11=("", ""))
    found = snowball(["1", "2"], "both", 2, backends(icite), Deadline(20))
    assert icite.asked == [["1", "2"], ["20", "10", "21", "11"]]
    assert order(found) == ["20", "10", "21", "11", "40", "30"]
    assert [each.step for each in found.papers] == [1, 1, 1, 1, 2, 2]
    assert found.papers[-1].seeds == set()


def test_more_links_decide_between_papers_that_as_many_seeds_name():
    icite = Icite(p1=("10 11 12", ""), p10=("11 50", ""), p11=("", ""), p12=("11 50", ""))
    found = snowball(["1"], "references", 2, backends(icite), Deadline(20))
    assert [(each.pmid, each.links) for each in found.papers] == [("11", 3), ("12", 1), ("10", 1), ("50", 2)]


def test_papers_that_icite_lacks_are_asked_of_ncbi():
    found = snowball(["1", "7"], "both", 1, backends(TWO, Ncbi()), Deadline(20))
    assert set(order(found)) == {"10", "11", "2", "20", "900", "901"}
    assert (found.sources, found.reasons) == ([ICITE, NCBI], [])


@pytest.mark.parametrize("failure", [UpstreamFailed("away"), Misconfigured("iCite is off")])
def test_without_icite_ncbi_answers_and_the_answer_says_so(failure):
    found = snowball(["1"], "both", 1, backends(Broken(failure), Ncbi()), Deadline(20))
    assert (order(found), found.sources) == (["901", "900"], [NCBI])
    assert str(failure) in found.reasons[0]


def test_an_outage_of_both_is_a_failure_and_no_empty_answer():
    both_down = backends(Broken(UpstreamFailed("away")), Broken(NcbiFailed("NCBI is away")))
    with pytest.raises(NcbiFailed):
        snowball(["1"], "both", 1, both_down, Deadline(20))


def test_a_second_step_that_fails_leaves_the_first_and_a_reason():
    icite, late = Icite(**TWO.papers), raising(DeadlineExceeded, "no time left")
    once = SimpleNamespace(of=lambda pmids, **_: icite.of(pmids) if not icite.asked else late())
    found = snowball(["1"], "references", 2, backends(once), Deadline(20))
    assert order(found) == ["11", "10", "2"]
    assert "second step" in found.reasons[0]


def test_a_seed_without_citations_is_named():
    icite = Icite(p1=("10", ""), p3=("", ""))
    assert snowball(["1", "3"], "both", 1, backends(icite), Deadline(20)).unlinked == ["3"]


def test_many_papers_are_asked_for_by_the_two_hundred():
    icite = Icite(**{f"p{number}": ("10", "") for number in range(1_000, 1_250)})
    snowball([str(number) for number in range(1_000, 1_250)], "both", 1, backends(icite), Deadline(20))
    assert [len(each) for each in icite.asked] == [200, 50]


def test_papers_are_known_by_corpus_project_and_review():
    made = backends(TWO)
    made.documents.heads = made.documents.get_many
    made.project_documents = SimpleNamespace(
        find=lambda _project, names: (
            [SimpleNamespace(identifiers={"pmid:11", "doi:10.1/x"})] if "pmid:11" in names else []
        )
    )
    made.screenings.records = lambda _review: [SimpleNamespace(record_id="10")]
    found = known_to(["10", "11", "12"], "lab", "project:lab", made)
    assert found == {"10": ["corpus", "review"], "11": ["project"], "12": []}
    assert known_to(["10", "11"], None, None, made) == {"10": ["corpus"], "11": []}

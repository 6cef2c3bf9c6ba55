"""A review of the deployed stack: the function of its tool searches the corpus as the command line does."""

import pytest

from tests.all.emulated.conftest import Papers
from tests.emulated.stack import until

pytestmark = pytest.mark.timeout(300)
NAME, PAPERS = "of the corpus", 3


def test_a_review_that_the_command_line_collected_by_a_question_is_searched_again_by_its_page(up):
    papers = Papers(up, PAPERS)
    up.stack.send(papers.event)
    papers.until_synced()
    until(papers.are_whole, 60, "papers in the index")
    first, *others = (f"{pmid}[uid]" for pmid in sorted(papers.wanted))

    def added(**arguments):
        given = {"tool": "labelPapers", "arguments": {"review": NAME, **arguments}}
        return up.stack.invoke("screening", given)

    up.stack.command("review", "create", NAME)
    assert up.stack.command("review", "collect", NAME, "--question", first)["new"] == 1
    again = added(collect=True)
    assert (again["added"], again["known"], again["warnings"]) == (0, 1, [])
    found = added(query=" OR ".join([first, *others]))
    assert (found["added"], found["known"], found["warnings"]) == (PAPERS - 1, 1, [])

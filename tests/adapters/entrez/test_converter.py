import json

import pytest

from bio_mcp.adapters.entrez.client import read_ids
from bio_mcp.adapters.entrez.transport import Answer
from bio_mcp.errors import NcbiUnreadable
from bio_mcp.ports.ncbi import ArticleIds


def answer(*records):
    return Answer(200, {}, json.dumps({"status": "ok", "records": list(records)}).encode(), "idconv")


WHOLE = {"pmcid": "PMC3531190", "pmid": 23193287, "doi": "10.1093/nar/gks1195", "requested-id": "23193287"}
IDS = ArticleIds("23193287", "PMC3531190", "10.1093/nar/gks1195")


def test_numbers_and_strings_are_both_ids():
    assert read_ids(answer(WHOLE), ["23193287"], "pmid") == {"23193287": IDS}
    assert read_ids(answer({**WHOLE, "pmid": "23193287"}), ["23193287"], "pmid") == {"23193287": IDS}


def test_a_version_is_left_out_of_a_pmcid():
    assert read_ids(answer({**WHOLE, "pmcid": "PMC3531190.1"}), ["23193287"], "pmid") == {"23193287": IDS}


def test_an_older_answer_that_does_not_repeat_the_question_is_read_by_its_id():
    row = {name: value for name, value in WHOLE.items() if name != "requested-id"}
    assert read_ids(answer(row), ["10.1093/NAR/gks1195"], "doi") == {"10.1093/NAR/gks1195": IDS}


def test_what_pmc_does_not_have_is_absent():
    row = {"requested-id": "1", "status": "error", "errmsg": "Identifier not found in PMC"}
    assert read_ids(answer(row), ["1"], "pmid") == {}


@pytest.mark.parametrize(
    "broken",
    [answer(), answer(WHOLE), Answer(200, {}, b"{}", "idconv"), Answer(200, {}, b'{"records": [7]}', "idconv")],
)
def test_an_answer_that_leaves_an_id_out_is_no_answer(broken):
    with pytest.raises(NcbiUnreadable):
        read_ids(broken, ["1"], "pmid")

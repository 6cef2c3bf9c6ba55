"""`bio-mcp reindex`."""

import json
import shutil
from itertools import islice

import pytest

from tests.corpus import HashedWords
from tests.doors.command_line import sample

PAPERS = 8


class Seeing(HashedWords):
    """A model that knows what the words of the questions mean, which no paper has."""

    def embed_questions(self, texts):
        return self.embed([text.replace("zz", "") for text in texts])


@pytest.fixture
def asked(tmp_path):
    """A file of questions: the titles, as words that no paper has."""
    papers = [each for each in islice(sample(), PAPERS) if each.title]
    texts = {each.pmid: " ".join(f"zz{word}" for word in each.title.split()) for each in papers}
    lines = [{"id": pmid, "question": text, "pmids": [pmid]} for pmid, text in texts.items()]
    file = tmp_path / "questions.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    return str(file)


def roles(ran):
    return [(each["role"], each["model"], each["papers"], each["behind"]) for each in ran.json["indexes"]]


def test_a_model_is_changed_in_steps_and_back(cli, asked):
    cli.fill(PAPERS)
    cli.other_models = [HashedWords("-2")]
    old, new = ("hashed-words", PAPERS, 0), ("hashed-words-2", PAPERS, 0)
    started = cli("reindex", "start", "--model", "hashed-words-2", "--json")
    assert (started.code, roles(started)) == (0, [("searched", *old), ("next", *new)])
    assert roles(cli("reindex", "status", "--json")) == [("searched", *old), ("next", *new)]
    compared = cli("reindex", "compare", "--set", asked)
    assert compared.code == 0
    assert "nDCG@10" in compared.out
    assert "Of the first ten papers" in compared.out
    assert roles(cli("reindex", "switch", "--set", asked, "--json")) == [("searched", *new), ("previous", *old)]
    assert cli("search", "cancer", "--json").code == 0
    assert roles(cli("reindex", "rollback", "--json")) == [("searched", *old), ("next", *new)]
    assert roles(cli("reindex", "remove", "--json")) == [("searched", *old)]
    assert "searched" in cli("reindex", "status").out


def test_an_index_that_finds_less_is_switched_to_only_unchecked(cli, asked):
    cli.fill(PAPERS)
    cli.other_models = [Seeing("-2")]
    cli("reindex", "start", "--model", "hashed-words-2")
    cli("reindex", "switch", "--set", asked)
    cli("reindex", "remove")
    cli.other_models.append(HashedWords("-3"))
    cli("reindex", "start", "--model", "hashed-words-3")
    compared = cli("reindex", "compare", "--set", asked, "--json")
    assert (compared.code, compared.json["worse"][0]) == (1, "nDCG@10")
    assert "worse by more than chance" in cli("reindex", "compare", "--set", asked).err
    refused = cli("reindex", "switch", "--set", asked)
    assert refused.code == 1
    assert "finds less: nDCG@10" in refused.err
    assert roles(cli("reindex", "switch", "--unchecked", "--json"))[0][1] == "hashed-words-3"


def test_what_is_not_there_is_refused_by_a_sentence(cli, asked):
    cli.fill(PAPERS)
    assert "already" in cli("reindex", "start").err
    assert "There is no next index" in cli("reindex", "switch", "--set", asked).err
    assert "There is no previous index" in cli("reindex", "rollback").err
    assert roles(cli("reindex", "remove", "--json"))[0][0] == "searched"


def test_an_index_of_the_same_model_is_made_anew_and_must_find_the_same(cli, asked):
    cli.fill(PAPERS)
    same = ("hashed-words", PAPERS, 0)
    assert roles(cli("reindex", "start", "--force", "--json")) == [("searched", *same), ("next", *same)]
    compared = cli("reindex", "compare", "--set", asked, "--json").json
    assert (compared["figures"][0]["name"], compared["overlap"], compared["worse"]) == ("alike@10", 1, [])
    assert roles(cli("reindex", "switch", "--set", asked, "--json")) == [("searched", *same), ("previous", *same)]


def test_an_index_that_lost_papers_is_completed(cli):
    cli.fill(20)
    corpus = cli.corpus()
    corpus.passages.delete(list(corpus.documents.pmids())[:15])
    corpus.close()
    assert cli("reindex").out.startswith("The index is complete: 20 papers, ")
    again = cli("reindex", "--json")
    assert (again.code, again.json["documents"], again.json["indexed"]) == (0, 20, 20)
    assert again.json["another_model"] is False


def test_a_lost_index_is_named_with_the_command_that_makes_it_again(cli):
    cli.fill(PAPERS)
    cli.other_models = [HashedWords("-2")]
    cli("reindex", "start", "--model", "hashed-words-2")
    cli("reindex", "switch", "--unchecked")
    shutil.rmtree(cli.home / "indexes")
    assert "was lost; bio-mcp reindex makes it" in cli("reindex", "status").err
    assert "or `bio-mcp reindex`" in cli("doctor").out
    assert cli("reindex").code == 0
    assert roles(cli("reindex", "status", "--json"))[0][2:] == (PAPERS, 0)


def test_an_empty_corpus_has_an_empty_index(cli):
    assert cli("reindex", "--json").json["indexed"] == 0

"""The Library: files that are sent, answers and their places, corrections, saved papers, and whose they are."""

from pathlib import Path

import pytest

from bio_mcp.callers import Caller
from bio_mcp.catalog import TOOLS
from bio_mcp.doors.console.library import LARGEST_FILE, PART, SANDBOX, address_of, id_of
from bio_mcp.doors.console.rendering import POLICY
from bio_mcp.doors.queue_worker import work_once
from bio_mcp.literature.notices import Notice
from bio_mcp.ports.projects import ProjectDocument
from bio_mcp.retrieval.project_chunks import Work
from bio_mcp.syncing.applying import apply_records
from tests.doors.console.pages import Page, browser
from tests.doors.console.test_views import As
from tests.support.sample_corpus import Corpus, articles

DATA = Path(__file__).parents[2] / "data/pdf"
PDF = (DATA / "demarchis2016.pdf").read_bytes()
NAME = "demarchis2016.pdf"
QUESTION = "Does rotating the forearm change hand opening?"
QUOTE = "When applying the identified optimal FEP during changed forearm/hand position no differences were found"
SCOPES = frozenset({"read", "ingest"})
OWNER, READER, STRANGER = (
    Caller(name, scopes, tenant)
    for name, scopes, tenant in (
        ("ann", SCOPES, "north"),
        ("bob", frozenset({"read"}), "north"),
        ("eve", SCOPES, "south"),
    )
)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    made = Corpus(tmp_path_factory.mktemp("library"), articles())
    apply_records(made.articles, made)
    yield made
    made.close()


@pytest.fixture(scope="module")
def clients(corpus):
    return {caller: browser(corpus, As(caller)) for caller in (OWNER, READER, STRANGER)}


@pytest.fixture(scope="module")
def owner(clients):
    return clients[OWNER]


def worked(corpus):
    while work_once(corpus.continuations, TOOLS, corpus):
        pass


@pytest.fixture(scope="module")
def waiting(owner):
    """The page of a project after a file was sent, which is not read yet."""
    assert owner.post("/library", data={"name": "Hand Opening"}).url.path == "/library/hand-opening"
    sent = owner.post("/library/hand-opening/-/documents", files=[("file", (NAME, PDF, "application/pdf"))])
    return Page(sent)


@pytest.fixture(scope="module")
def document(corpus, owner, waiting):
    """The address of the document, once it is read."""
    worked(corpus)
    [address] = [each for each in Page(owner.get("/library/hand-opening")).links if "/-/documents/" in each]
    return address


def test_a_file_that_is_sent_waits_to_be_read_and_the_page_asks_how_far_it_is(waiting):
    assert any(text.startswith(f"Waiting {NAME}") for text in waiting.texts("li"))
    assert waiting.all("div", id="progress")[0][1]["hx-trigger"] == "every 2s"


def test_a_file_that_was_read_is_a_document_with_what_cites_it(owner, document):
    page = Page(owner.get("/library/hand-opening"))
    assert any(text.startswith(f"Read {NAME}") for text in page.texts("li"))
    assert "hx-trigger" not in page.all("div", id="progress")[0][1]
    assert any(text.startswith("De Marchis C, Monteiro TS") and "2016" in text for text in page.texts("p"))


def test_the_same_file_in_parts_is_here_already(corpus, owner, document):
    parts = [PDF[at : at + 300_000] for at in range(0, len(PDF), 300_000)]
    keys = [owner.post("/library/hand-opening/-/parts", content=each).text for each in parts]
    assert len(set(keys)) == len(parts) > 1
    owner.post("/library/hand-opening/-/documents", data={"name": "again.pdf", "parts": " ".join(keys)})
    worked(corpus)
    page = Page(owner.get("/library/hand-opening"))
    assert any(text.startswith("Here already again.pdf") for text in page.texts("li"))
    assert "1 document" in page.texts("h2")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("prices.xlsx", b"PK", "no kind that is read here"),
        ("none.pdf", b"", "is empty"),
        ("", b"x", "No file came"),
    ],
    ids=["kind", "empty", "nameless"],
)
def test_what_cannot_be_taken_is_refused_by_a_sentence(owner, waiting, name, content, said):
    answer = owner.post("/library/hand-opening/-/documents", files=[("file", (name, content))])
    assert answer.status_code == 400
    assert said in Page(answer).text("div", cls="problem")


def test_more_than_a_form_may_have_is_refused_and_so_is_a_part(owner, waiting):
    files = [("file", (f"{at}.txt", b"text")) for at in range(21)]
    assert owner.post("/library/hand-opening/-/documents", files=files).status_code == 400
    assert owner.post("/library/hand-opening/-/parts", content=b"x" * (PART + 1)).status_code == 400
    assert LARGEST_FILE > PART


def test_a_file_that_no_reader_takes_is_told_of_in_its_line(corpus, owner, waiting):
    owner.post("/library/hand-opening/-/documents", files=[("file", ("broken.pdf", b"%PDF-1.7 nothing"))])
    worked(corpus)
    page = Page(owner.get("/library/hand-opening"))
    [line] = [text for text in page.texts("li") if "broken.pdf" in text]
    assert line.startswith("Not read broken.pdf")
    assert "cut off" in line


def test_a_question_is_answered_by_sentences_that_lead_to_their_page(owner, document):
    page = Page(owner.get("/library", params={"q": QUESTION, "project": "hand-opening"}))
    [claim] = [text for text in page.texts("li") if text.startswith(QUOTE)]
    number = claim[claim.rindex("[") :]
    [source] = [attributes["href"] for tag, attributes, text in page.all("a") if text == number]
    assert source.startswith(f"{document}?page=6&quote=When+applying")
    shown = Page(owner.get(source))
    assert "Page 6 of 9" in shown.texts("h2")
    assert QUOTE in shown.texts("mark")[0]  # in the text that was read, for who has no scripts
    assert f"{document.replace('/documents/', '/files/')}#page=6" in shown.links


def test_what_the_documents_do_not_have_is_not_answered(owner, document):
    page = Page(owner.get("/library", params={"q": "Do statins lower mortality?", "project": "hand-opening"}))
    assert page.all("ol", cls="claims") == []
    assert "No answer is given" in page.source


def test_scripts_of_the_page_may_start_a_worker_of_this_server_and_nothing_else(owner, document):
    assert owner.get(document).headers["content-security-policy"] == f"{POLICY}; worker-src 'self'"
    assert owner.get("/library/hand-opening").headers["content-security-policy"] == POLICY


def test_the_file_is_given_whole_and_in_parts_and_may_do_nothing(owner, document):
    address = document.replace("/documents/", "/files/")
    whole = owner.get(address)
    assert whole.content == PDF
    assert whole.headers["content-type"] == "application/pdf"
    assert whole.headers["x-content-type-options"] == "nosniff"
    assert whole.headers["content-security-policy"] == SANDBOX
    part = owner.get(address, headers={"range": "bytes=100-199"})
    assert (part.status_code, part.content) == (206, PDF[100:200])
    assert part.headers["content-range"] == f"bytes 100-199/{len(PDF)}"
    beyond = owner.get(address, headers={"range": "bytes=99999999-99999999"})
    assert (beyond.status_code, beyond.content) == (416, b"")


def test_a_correction_holds_and_says_nothing_of_what_was_not_changed(corpus, owner, document):
    page = Page(owner.get(document))
    form = {each[1]["name"]: each[1].get("value", "") for each in page.all("input") if each[1].get("name")}
    form |= {"authors": page.all("textarea")[0][2], "journal": "J Neuroeng"}
    assert owner.post(document, data=form).status_code == 200
    assert "J Neuroeng" in Page(owner.get("/library/hand-opening")).source
    [stored] = [each for each in corpus.project_documents.all(_stored(corpus)) if each.origin.get("kept")]
    assert stored.origin["edited"] == {"journal": "J Neuroeng"}
    wrong = owner.post(document, data={**form, "doi": "no doi"})
    assert wrong.status_code == 400
    assert "is no DOI" in Page(wrong).text("div", cls="problem")


def test_a_field_that_is_emptied_in_the_form_stays_empty(corpus, owner, document):
    assert owner.post(document, data={"year": "2017", "journal": "A wrong one"}).status_code == 200
    page = Page(owner.post(document, data={"year": "", "journal": " ", "authors": "Me M"}))
    fields = {each[1]["name"]: each[1].get("value", "") for each in page.all("input") if each[1].get("name")}
    assert (fields["year"], fields["journal"]) == ("", "")
    assert "year, journal" in page.source  # is missing
    [stored] = [each for each in corpus.project_documents.all(_stored(corpus)) if each.origin.get("kept")]
    assert (stored.work.year, stored.work.journal, stored.work.authors) == (None, None, ("Me M",))
    assert stored.work.title == fields["title"] != ""
    untitled = Page(owner.post(document, data={"title": "", "year": "2016", "journal": "J Neuroeng"}))
    assert untitled.text("h1") == NAME  # of the file
    owner.post(document, data={"title": fields["title"]})


def _stored(corpus):
    return next(each.project_id for each in corpus.projects.all() if each.project_id.endswith("hand-opening"))


def test_a_document_with_a_notice_has_no_record_in_pubmed_unless_the_corpus_has_it(corpus, owner, document):
    owner.post("/library", data={"name": "noted"})
    project_id = next(each.project_id for each in corpus.projects.all() if each.project_id.endswith("noted"))
    noted = ProjectDocument(
        Work("doc:noted", title="A withdrawn trial", doi="10.1000/w"),
        frozenset({"doc:noted", "doi:10.1000/w"}),
        notices=(Notice("retraction"),),
    )
    corpus.project_documents.put(project_id, noted)
    for path in ("/library/noted", "/library/noted/-/documents/doc:noted"):
        page = Page(owner.get(path))
        assert "Retracted" in page.source
        assert not [each for each in page.links if each.startswith("/papers/")]


def test_a_document_is_deleted_with_its_file_by_who_may(corpus, owner, clients, document):
    owner.post("/library", data={"name": "brief"})
    owner.post("/library/brief/-/documents", files=[("file", (NAME, PDF, "application/pdf"))])
    worked(corpus)
    [address] = [each for each in Page(owner.get("/library/brief")).links if "/-/documents/" in each]
    deleted, file = (address.replace("/documents/", f"/{of}/") for of in ("deleted", "files"))
    assert owner.get(file).status_code == 200
    assert clients[READER].post(deleted).status_code == 403
    assert clients[STRANGER].post(deleted).status_code == 404
    assert deleted in [each[1].get("action") for each in Page(owner.get(address)).all("form")]
    page = Page(owner.post(deleted))
    assert (page.text("h1"), "0 documents" in page.texts("h2")) == ("brief", True)
    assert owner.get(file).status_code == owner.get(address).status_code == 404
    assert owner.get(document.replace("/documents/", "/files/")).content == PDF  # of another project


def test_papers_of_a_search_are_saved_in_a_project_that_is_chosen_or_new(owner, waiting):
    pmids = [each.pmid for each in articles()[:2]]
    asked = Page(owner.get("/saved", params={"pmid": pmids}))
    assert "hand-opening" in [each[1]["value"] for each in asked.all("input", type="radio")]
    page = Page(owner.post("/saved", data={"pmid": pmids, "name": "Saved Papers"}))
    assert page.text("h1") == "saved-papers"
    shown = page.texts("h3")
    assert [any(text.endswith(each.title) for text in shown) for each in articles()[:2]] == [True, True]
    assert any(text.startswith("Read 2 papers") for text in page.texts("li"))
    assert owner.post("/saved", data={"name": "x"}).status_code == 400
    assert owner.post("/saved", data={"pmid": pmids}).status_code == 400


def test_the_search_page_offers_save_to_those_who_may(clients):
    hits = {"q": articles()[0].title}
    assert "Save" in Page(clients[OWNER].get("/", params=hits)).texts("button")
    assert "Save" not in Page(clients[READER].get("/", params=hits)).texts("button")


def test_who_may_only_read_sees_documents_and_no_button_that_changes_anything(clients, document):
    for path in ("/library", "/library/hand-opening", document):
        page = Page(clients[READER].get(path))
        assert page.status == 200
        assert [each[1]["action"] for each in page.all("form", method="post")] == ["/sign-out"]
        assert "Delete document" not in page.source
    for path in ("/library", "/library/hand-opening/-/documents", "/library/hand-opening/-/parts", document, "/saved"):
        sent = clients[READER].post(path, data={"name": "x", "pmid": "1", "parts": "x", "journal": "y"})
        assert sent.status_code == 403


def test_another_tenant_finds_neither_project_document_file_nor_parts(owner, clients, document):
    stranger = clients[STRANGER]
    for path in ("/library/hand-opening", document, document.replace("/documents/", "/files/")):
        assert owner.get(path).status_code == 200
        assert stranger.get(path).status_code == 404
    assert "hand-opening" not in stranger.get("/library").text
    key = owner.post("/library/hand-opening/-/parts", content=b"secret").text
    stranger.post("/library", data={"name": "mine"})
    taken = stranger.post("/library/mine/-/documents", data={"name": "taken.txt", "parts": key})
    assert "no stored file" in Page(taken).text("div", cls="problem")


def test_a_form_of_another_site_changes_nothing(owner, waiting):
    other = {"sec-fetch-site": "cross-site", "origin": "https://evil.example"}
    for path in ("/library", "/library/hand-opening/-/documents", "/library/hand-opening/-/parts", "/saved"):
        assert owner.post(path, data={"name": "stolen"}, headers=other).status_code == 403
    assert "stolen" not in owner.get("/library").text


@pytest.mark.parametrize(
    ("name", "project_id"),
    [("Heart failure 2024", "heart-failure-2024"), ("Läb / Herz", "lab/herz"), ("  ", ""), ("ขมิ้นชัน", ""), ("-a-", "a")],
    ids=["words", "accents", "nothing", "thai", "dashes"],
)
def test_a_name_becomes_an_id(name, project_id):
    assert id_of(name) == project_id


def test_an_address_of_a_document_is_of_no_project():
    assert address_of("lab/heart", "doi:10.1/a?b") == "/library/lab/heart/-/documents/doi:10.1/a%3Fb"

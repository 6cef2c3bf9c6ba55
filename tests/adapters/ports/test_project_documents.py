from bio_mcp.literature.notices import Notice
from bio_mcp.ports.projects import ProjectDocument
from bio_mcp.retrieval.project_chunks import Work

P, Q = "lab/heart", "lab/lung"


def document(doc_id, *identifiers, **fields):
    return ProjectDocument(Work(doc_id, title=f"Title of {doc_id}"), frozenset(identifiers), **fields)


FULL = ProjectDocument(
    Work(
        doc_id="d7", title="Titin – 2ß", citekey="doe2020", doi="10.1000/x'y\"z", pmid="7", url="https://example.org/7",
        year=2020, authors=("Doe J", "van der Berg JA"), tags=("Heart",), language="de", source="a b.pdf",
    ),
    frozenset({"pmid:7", "doi:10.1000/x'y\"z", "sha256:ab", "zotero:users/1/ABCD"}),
    sha256="ab", recipe="parser 1", chunks=12, pages=30, ocr=True,
    origin={"library": "users/1", "version": 12, "collections": ["A", "B"], "none": None},
    notices=(Notice("retraction", "10.1000/notice", "2019-07-26", "Retraction", "retraction-watch"), Notice("concern")),
)  # fmt: skip


def test_a_document_comes_back_equal(project_documents):
    project_documents.put(P, FULL)
    assert project_documents.all(P) == [FULL]
    assert project_documents.find(P, ["pmid:7"]) == [FULL]


def test_a_document_is_found_by_any_of_its_identifiers_once(project_documents):
    project_documents.put(P, document("b", "pmid:1", "doi:10.1/x"))
    project_documents.put(P, document("a", "pmid:2"))
    project_documents.put(P, document("c"))

    def found(*identifiers):
        return [each.doc_id for each in project_documents.find(P, identifiers)]

    assert found("doi:10.1/x") == found("pmid:1", "doi:10.1/x", "sha256:none") == ["b"]
    assert found("pmid:1", "pmid:2") == ["a", "b"]
    assert found() == found("pmid:3") == found("pmid:%") == found("PMID:1") == []
    assert [each.doc_id for each in project_documents.all(P)] == ["a", "b", "c"]


def test_putting_again_replaces_also_the_identifiers(project_documents):
    project_documents.put(P, document("a", "pmid:1", "sha256:old", chunks=3))
    changed = document("a", "pmid:1", "sha256:new", chunks=4)
    for _ in range(2):
        project_documents.put(P, changed)
    assert project_documents.all(P) == [changed]
    assert project_documents.find(P, ["sha256:old"]) == []


def test_an_identifier_that_another_has_moves(project_documents):
    project_documents.put(P, document("a", "pmid:1", "citekey:doe"))
    project_documents.put(P, document("b", "citekey:doe"))
    assert project_documents.find(P, ["citekey:doe"]) == [document("b", "citekey:doe")]
    assert project_documents.all(P) == [document("a", "pmid:1"), document("b", "citekey:doe")]


def test_a_document_that_lost_an_identifier_may_be_deleted_without_the_other_losing_it(project_documents):
    project_documents.put(P, document("a", "citekey:doe"))
    project_documents.put(P, document("b", "citekey:doe"))
    project_documents.delete(P, ["a"])
    assert project_documents.find(P, ["citekey:doe"]) == [document("b", "citekey:doe")]


def test_deleted_documents_are_gone_and_unknown_ids_change_nothing(project_documents):
    for each in ("a", "b", "c"):
        project_documents.put(P, document(each, f"sha256:{each}"))
    for _ in range(2):
        project_documents.delete(P, ["a", "c", "x", "b' OR '1'='1", "*"])
    assert project_documents.all(P) == [document("b", "sha256:b")]
    assert project_documents.find(P, ["sha256:a"]) == []
    project_documents.delete(P, [])
    assert len(project_documents.all(P)) == 1


def test_projects_share_nothing(project_documents):
    project_documents.put(P, document("a", "pmid:1", chunks=1))
    project_documents.put(Q, document("a", "pmid:1", chunks=2))
    project_documents.put_cursor(P, "users/1", {"version": 3})
    assert [each.chunks for each in project_documents.find(Q, ["pmid:1"])] == [2]
    assert project_documents.cursor(Q, "users/1") == {}
    project_documents.delete(Q, ["a"])
    assert project_documents.find(P, ["pmid:1"])
    for other in (f"{P}/x", "lab", "lab/hear", "lab/%", "lab/heart%", "LAB/HEART"):
        assert project_documents.all(other) == project_documents.find(other, ["pmid:1"]) == []
        project_documents.drop(other)
    assert len(project_documents.all(P)) == 1


def test_a_cursor_comes_back_as_it_was_stored_last(project_documents):
    assert project_documents.cursor(P, "users/1") == {}
    for cursor in ({"version": 3}, {"version": 4, "seen": ["A", "ü"], "at": None}):
        project_documents.put_cursor(P, "users/1", cursor)
        assert project_documents.cursor(P, "users/1") == cursor
    assert project_documents.cursor(P, "users/2") == {}


def test_what_is_dropped_has_no_documents_and_no_cursors(project_documents):
    for project in (P, Q):
        project_documents.put(project, document("a", "pmid:1"))
        project_documents.put_cursor(project, "users/1", {"version": 3})
    for _ in range(2):
        project_documents.drop(P)
    assert project_documents.all(P) == project_documents.find(P, ["pmid:1"]) == []
    assert project_documents.cursor(P, "users/1") == {}
    assert project_documents.all(Q) == [document("a", "pmid:1")]
    assert project_documents.cursor(Q, "users/1") == {"version": 3}


def test_more_documents_than_a_request_takes(project_documents):
    for n in range(110):
        project_documents.put(P, document(f"d{n:03}", f"pmid:{n}", f"sha256:{n}"))
    assert [each.doc_id for each in project_documents.all(P)] == [f"d{n:03}" for n in range(110)]
    assert len(project_documents.find(P, [f"pmid:{n}" for n in range(400)])) == 110
    project_documents.delete(P, [f"d{n:03}" for n in range(109)])
    assert [each.doc_id for each in project_documents.all(P)] == ["d109"]


def test_a_document_known_by_many_names(project_documents):
    known = document("a", *(f"citekey:{n}" for n in range(300)))
    project_documents.put(P, known)
    assert project_documents.all(P) == [known]
    project_documents.put(P, document("a", "citekey:0"))
    assert project_documents.find(P, [f"citekey:{n}" for n in range(1, 300)]) == []

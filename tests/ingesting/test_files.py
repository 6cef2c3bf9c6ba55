"""Files of a folder become chunks of a project, once, and again when they change."""


def test_the_documents_of_a_folder_become_chunks_of_the_project(library):
    library.write("a.md", "title: On hearts\n# Methods\nWe measured hearts. They beat.")
    library.write("deeper/b.txt", "Livers are large.")
    report = library.ingest()
    assert (report.state, report.cursor.written, report.cursor.chunks) == ("complete", 2, 2)
    assert library.texts == ["Livers are large.", "We measured hearts. They beat."]
    heart = next(each for each in library.chunks if each.section)
    assert (heart.section, heart.section_path, heart.work.title) == ("Methods", ("Methods",), "On hearts")
    assert heart.work.source == "a.md"


def test_what_has_not_changed_is_neither_parsed_nor_embedded_again(library):
    library.write("a.md", "Hearts beat.")
    library.ingest()
    parsed, embedded = len(library.plain.read), library.model.embedded
    report = library.ingest()
    assert (report.cursor.unchanged, report.cursor.written, report.cursor.chunks) == (1, 0, 0)
    assert (len(library.plain.read), library.model.embedded) == (parsed, embedded)


def test_of_an_edited_file_only_what_changed_is_embedded_again(library):
    first, *_ = sections = [f"# Part {n}\nSentence number {n} stays." for n in range(20)]
    library.write("a.md", "\n".join(sections))
    library.ingest()
    before = library.documents_of_project[0]
    embedded = library.model.embedded
    library.write("a.md", "\n".join([first.replace("stays", "changes"), *sections[1:]]))
    library.ingest()
    [after] = library.documents_of_project
    assert after.doc_id == before.doc_id
    assert after.sha256 != before.sha256
    assert library.model.embedded == embedded + 1
    assert "Sentence number 0 changes." in library.texts
    assert len(library.texts) == 20


def test_a_shorter_version_leaves_no_chunk_of_the_longer_one(library):
    library.write("a.md", "\n".join(f"# Part {n}\nSentence {n}." for n in range(10)))
    library.ingest()
    library.write("a.md", "# Part\nOne sentence.")
    library.ingest()
    assert library.texts == ["One sentence."]


def test_one_bad_file_is_one_warning_with_its_reason_and_the_rest_goes_on(library):
    library.write("a.md", "Hearts beat.")
    library.write("bad/broken.pdf", b"\xff\xfe\x00")
    library.write("empty.txt", "  ")
    library.write("z.md", "Livers are large.")
    report = library.ingest()
    assert (report.cursor.written, report.cursor.failed, report.state) == (2, 2, "complete")
    assert "'bad/broken.pdf': it is damaged: it is no text" in report.warnings
    assert "'empty.txt': there is no text in it" in report.warnings
    assert not any(str(library.files) in each for each in report.warnings)
    assert library.texts == ["Hearts beat.", "Livers are large."]


def test_hidden_files_links_to_folders_and_other_kinds_of_files_are_left_out(library, tmp_path):
    for name in (".hidden.md", ".git/a.md", "figure.png", "table.csv"):
        library.write(name, "Not a document.")
    (library.files / "loop").symlink_to(library.files)
    other = tmp_path / "elsewhere.md"
    other.write_text("Linked text.")
    (library.files / "link.md").symlink_to(other)
    (library.files / "dangling.md").symlink_to(tmp_path / "nothing.md")
    library.write("a.md", "Hearts beat.")
    library.ingest()
    assert library.texts == ["Hearts beat.", "Linked text."]


def test_a_file_that_is_named_is_read_whatever_it_is_called(library):
    library.ingest(library.write("notes", "Hearts beat."))
    assert library.texts == ["Hearts beat."]


def test_another_parser_reads_the_files_again_and_embeds_nothing_twice(library):
    library.write("a.md", "Hearts beat.")
    library.ingest()
    library.plain.version = "plain 2"
    embedded = library.model.embedded
    assert library.ingest().cursor.written == 1
    assert library.model.embedded == embedded


def test_languages_are_the_librarys_then_the_callers_then_english_and_german(library):
    from bio_mcp.ingesting.sources import Options

    path = library.write("a.md", "Hearts beat.")
    library.ingest(path)
    assert library.plain.languages == ["en", "de"]
    library.plain.version = "plain 2"
    library.ingest(path, options=Options(languages=("tha",)))
    assert library.plain.languages == ["tha"]

"""Papers as publishers print them, beside what they are known to say.

GROBID errs too, so words alone are compared: it drops hyphens of words ("Mwave"), takes a caption into the text, leaves
out a line, and writes every number of "[10-14]".
"""

import re

from bio_mcp.literature.documents import SectionKind
from tests.adapters.parsers.pdf.papers import PDF, body, grobid, parsed, similarity

PAPER = "demarchis2016.pdf"


def test_every_heading_that_grobid_finds_is_found():
    ours = {section.heading for section in parsed(PAPER).sections}
    headings, _ = grobid()
    found = [heading for heading in headings if heading in ours]
    assert len(headings) == 18
    assert len(found) / len(headings) >= 0.95


def test_the_text_is_grobids_in_its_order():
    _, text = grobid()
    assert similarity(text, body(parsed(PAPER), "Background", "Conclusions")) >= 0.97


def test_headings_are_nested_as_their_type_says():
    paths = {section.path for section in parsed(PAPER).sections}
    assert ("Methods", "Experimental setup", "Neuromuscular electrical stimulation and EMG recording") in paths
    assert ("Methods", "Data analysis") in paths
    assert ("Results", "Hand opening with a rotated forearm position") in paths
    assert ("Conclusions",) in paths
    assert ("References",) in paths


def test_no_running_header_page_number_or_stamp_is_in_the_text():
    text = parsed(PAPER).text
    assert "Page 2 of 9" not in text
    assert not re.search(r"Rehabilitation\s+\(2016\) 13:22", text)
    assert "7/10/2025" not in parsed("micropub001725.pdf").text


def test_the_references_are_apart_one_a_paragraph():
    references = [each for each in parsed(PAPER).sections if each.kind is SectionKind.REFERENCES]
    assert [each.path for each in references] == [("References",)]
    entries = references[0].text.split("\n\n")
    assert len(entries) == 49
    assert all(entry.startswith(f"{number}. ") for number, entry in enumerate(entries, 1))
    assert references[0].page_span == (8, 9)


def test_a_paper_says_its_title_and_doi():
    assert parsed(PAPER).title.startswith("Multi-contact functional electrical stimulation for hand opening: electro")
    assert parsed(PAPER).doi == "10.1186/s12984-016-0129-6"
    micropub = parsed("micropub001725.pdf")
    assert micropub.title.endswith("Additional Cell Populations in the Drosophila melanogaster Ovary")
    assert micropub.doi == "10.17912/micropub.biology.001725"
    assert micropub.pmid is None


def test_words_parted_at_the_end_of_a_line_are_whole_and_compounds_keep_their_hyphen():
    text = parsed(PAPER).text
    for whole in (
        "effectiveness of FES",
        "spinal cord injury",
        "non-painful",
        "center-to-center",
        "M-wave was calculated",
    ):
        assert whole in text


def test_captions_interrupt_no_sentence():
    captions = [each for each in parsed(PAPER).sections if re.match(r"Fig\. \d", each.text)]
    assert [each.text[:6] for each in captions] == [f"Fig. {number}" for number in range(1, 7)]
    assert "Single pulses were applied every 300 ms in order to avoid summation effects" in parsed(PAPER).text


def test_a_report_in_one_column_has_its_sections():
    tops = [each.path for each in parsed("micropub001725.pdf").sections]
    named = ["Abstract", "Description", "Methods", "Reagents", "Acknowledgements", "Extended Data", "References"]
    assert list(dict.fromkeys(path[0] for path in tops if path))[:7] == named
    assert ("Funding",) in tops
    assert all(len(path) <= 1 for path in tops)


def test_thai_is_read_without_spaces_between_its_letters():
    document = parsed("thai_turmeric.pdf")
    truth = (PDF / "thai_turmeric.txt").read_text(encoding="utf-8")
    title, team, heading, abstract = truth.strip().split("\n")
    assert document.title == title
    assert document.sections[0].text == f"{title}\n\n{team}"
    assert (document.sections[1].heading, document.sections[1].text) == (heading, abstract)
    assert document.sections[-1].kind is SectionKind.REFERENCES
    assert document.pmid is None, "that of a cited paper is not its own"

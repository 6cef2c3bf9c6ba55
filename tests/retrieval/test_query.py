"""What a person typed: which kind of query it is, and what it asks for."""

import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bio_mcp.errors import InvalidInput
from bio_mcp.literature.records import Article, Author, PartialDate
from bio_mcp.retrieval.pubmed_syntax import fields_of, matches, printed
from bio_mcp.retrieval.query import Kind, read_query

AUTHORS = [
    Author("Smith", "John Adam", "JA"), Author("Horby", "Peter", "P"), Author("van der Berg", "Jane", "J"),
    Author("Rice", "Ann", "A"), Author("O'Brien", "Kim", "K"), Author("Müller", "Eva", "E"), Author("May", "Lee", "L"),
]  # fmt: skip
CORPUS = [fields_of(Article(str(number), authors=(each,))) for number, each in enumerate(AUTHORS, 1)]


def knows_author(name):
    return any(matches(name, paper) for paper in CORPUS)


def read(text):
    return read_query(text, knows_author)


@pytest.mark.parametrize(
    ("text", "identifiers"),
    [
        ("34093119", "pmid:34093119"), (" 1 ", "pmid:1"), ("2019", "pmid:2019"), ("PMID: 34093119", "pmid:34093119"),
        ("pmid34093119.", "pmid:34093119"), ("34093119[pmid]", "pmid:34093119"), ("34093119 [UID]", "pmid:34093119"),
        ("https://pubmed.ncbi.nlm.nih.gov/34093119/", "pmid:34093119"),
        ("(https://www.ncbi.nlm.nih.gov/pubmed/34093119)", "pmid:34093119"),
        ("pubmed.ncbi.nlm.nih.gov/34093119", "pmid:34093119"), ("PubMed ID: 34093119", "pmid:34093119"),
        ("https://pubmed.ncbi.nlm.nih.gov/34093119/#abstract", "pmid:34093119"),
        ("https://pubmed.ncbi.nlm.nih.gov/?term=34093119&sort=date", "pmid:34093119"),
        ("https://www.ncbi.nlm.nih.gov/pubmed/?term=34093119", "pmid:34093119"),
        ("europepmc.org/article/MED/34093119", "pmid:34093119"), ("PMC 6108041", "pmcid:PMC6108041"),
        ("www.ncbi.nlm.nih.gov/pmc/articles/PMC6108041/?report=classic", "pmcid:PMC6108041"),
        ("doi.org/10.1056/NEJMoa2034577", "doi:10.1056/nejmoa2034577"),
        ("34093119, 33406518 and 34093119", "pmid:34093119 pmid:33406518"),
        ("PMIDs: 1, PMID 2, 3", "pmid:2 pmid:1 pmid:3"),
        ("1[pmid] OR 2[pmid]", "pmid:1 pmid:2"), ("PMC6108041", "pmcid:PMC6108041"),
        ("PMCID: pmc6108041.2", "pmcid:PMC6108041"), ("PMC6108041[pmcid]", "pmcid:PMC6108041"),
        ("https://pmc.ncbi.nlm.nih.gov/articles/PMC6108041/", "pmcid:PMC6108041"),
        ("10.1056/NEJMoa2034577", "doi:10.1056/nejmoa2034577"),
        ("doi: 10.1056/NEJMoa2034577.", "doi:10.1056/nejmoa2034577"),
        ("doi:10.1056/NEJMoa2034577;", "doi:10.1056/nejmoa2034577"),
        ("(10.1016/S0140-6736(20)30183-5)", "doi:10.1016/s0140-6736(20)30183-5"),
        ("https://doi.org/10.1016/S0140-6736(20)30183-5", "doi:10.1016/s0140-6736(20)30183-5"),
        ("https://doi.org/10.1002/%28SICI%291097", "doi:10.1002/(sici)1097"),
        ("10.1056/NEJMoa2034577[doi]", "doi:10.1056/nejmoa2034577"),
        ("PMID: 34093119, DOI: 10.1056/NEJMoa2034577", "pmid:34093119 doi:10.1056/nejmoa2034577"),
    ],
)  # fmt: skip
def test_identifiers_alone_are_papers(text, identifiers):
    it = read(text)
    assert (it.kind, it.words, it.tree) == (Kind.IDENTIFIER, "", None)
    assert list(it.identifiers) == identifiers.split()
    assert it.text.startswith("Read as ")


@pytest.mark.parametrize(
    ("text", "words", "identifiers"),
    [
        ("what does PMID: 34093119 say of asthma?", "what does say of asthma?", "pmid:34093119"),
        ("cohorts like (doi:10.1056/NEJMoa2034577) in Asia", "cohorts like ( in Asia", "doi:10.1056/nejmoa2034577"),
        ("asthma in 2019 and 2020", "asthma in 2019 and 2020", ""),
        ("2019 2020", "2019 2020", ""),
        ("COVID-19", "COVID-19", ""),
        ("5 mg of 12345678 units", "5 mg of 12345678 units", ""),
        ("https://example.org/34093119", "https://example.org/34093119", ""),
        ("123456789", "123456789", ""),
        ("PMC", "PMC", ""),
    ],
)
def test_an_identifier_in_a_question_is_named_beside_it(text, words, identifiers):
    it = read(text)
    assert (it.kind, it.words, list(it.identifiers)) == (Kind.QUESTION, words, identifiers.split())


@pytest.mark.parametrize(
    ("text", "tree", "words"),
    [
        ("Smith 2019 asthma", "smith[au] AND 2019/01/01:2019/12/31[dp]", "asthma"),
        ("Smith, 2019", "smith[au] AND 2019/01/01:2019/12/31[dp]", ""),
        ("Smith (2019a). Asthma in  children", "smith[au] AND 2019/01/01:2019/12/31[dp]", "Asthma in children"),
        ("Smith et al. 2019", "smith[au] AND 2019/01/01:2019/12/31[dp]", ""),
        ("Unheard et al., 2019 asthma", "unheard[au] AND 2019/01/01:2019/12/31[dp]", "asthma"),
        ("Unheard et al.", "unheard[au]", ""),
        ("unheard et al 2019", "unheard[au] AND 2019/01/01:2019/12/31[dp]", ""),
        ("(Smith, 2019)", "smith[au] AND 2019/01/01:2019/12/31[dp]", ""),
        ("Smith et al asthma", "smith[au]", "asthma"),
        ("Smith JA 2019", "smith ja[au] AND 2019/01/01:2019/12/31[dp]", ""),
        ("Smith and Horby 2019", "smith[au] AND horby[au] AND 2019/01/01:2019/12/31[dp]", ""),
        ("Smith J", "smith j[au]", ""),
        ("Smith J.A.", "smith ja[au]", ""),
        ("J. A. Smith", "j a smith[au]", ""),
        ("Smith, John", "smith john[au]", ""),
        ("Peter Horby", "peter horby[au]", ""),
        ("van der Berg J", "van der berg j[au]", ""),
        ("O’Brien K", "o brien k[au]", ""),
        ("Müller E", "muller e[au]", ""),
        ("Rice 2019 arsenic", "rice[au] AND 2019/01/01:2019/12/31[dp]", "arsenic"),
    ],
)
def test_an_author_is_asked_for(text, tree, words):
    it = read(text)
    assert (it.kind, printed(it.tree), it.words) == (Kind.AUTHOR, tree, words)
    assert it.text.startswith("Read as papers by ")


@pytest.mark.parametrize(
    "text",
    ["Smith", "smith 2019 asthma", "Jones 2019 asthma", "Jones J", "Brown fat", "Brown Fat", "Parkinson disease",
     "Vitamin D", "Hepatitis B 2019", "May 2020 lockdown", "COVID 2019", "Jones et al showed it", "Smith and asthma",
     "Rice with arsenic", "Asthma in Children", "Smith 20190 asthma"],
)  # fmt: skip
def test_words_that_are_no_author_are_a_question(text):
    assert read(text).kind == Kind.QUESTION
    assert read(text).words == text


def test_an_author_is_known_by_the_corpus_alone():
    assert read_query("Smith J").kind == Kind.QUESTION
    tree = read("Smith 2019 asthma").tree
    papers = [
        fields_of(Article("1", authors=(AUTHORS[0],), publication_date=PartialDate("", year))) for year in (2019, 2020)
    ]
    assert [matches(tree, each) for each in papers] == [True, False]


@pytest.mark.parametrize(
    ("text", "tree", "words"),
    [
        ("asthma AND child", "asthma AND child", "asthma child"),
        ("ASTHMA AND CHILD", "asthma AND child", "asthma child"),
        ("asthma NOT child[mh]", 'asthma NOT "child"[mh]', "asthma"),
        ("NOT asthma", "NOT asthma", ""),
        ("asthma OR (wheezing AND child)", "asthma OR (wheezing AND child)", "asthma wheezing child"),
        ('"long COVID" fatigue', '"long covid" AND fatigue', "long covid fatigue"),
        ("“long COVID”", '"long covid"', "long covid"),
        ("asthm* child", "asthm* AND child", "asthm child"),
        ("asthma [ti]", "asthma[ti]", "asthma"),
        ("asthma[ti] and child[ti]", "asthma[ti] AND child[ti]", "asthma child"),
        ("is asthma[tiab] curable?", '"is asthma"[tiab] AND curable', "is asthma curable"),
        ("smith j[au] asthma/drug therapy[mh]", 'smith j[au] AND "asthma / drug therapy"[mh]', "asthma drug therapy"),
        ("review[pt] 2019[dp]", '"Review"[pt] AND 2019/01/01:2019/12/31[dp]', ""),
        ("asthma AND 10.1056/NEJMoa2034577[doi]", 'asthma AND "10.1056/nejmoa2034577"[doi]', "asthma"),
    ],
)
def test_pubmeds_syntax_is_told_by_its_signs(text, tree, words):
    it = read(text)
    assert (it.kind, printed(it.tree), it.words) == (Kind.BOOLEAN, tree, words)
    assert it.text.endswith(f": {tree}.")


@pytest.mark.parametrize(
    "text",
    ["heart attack or stroke (COPD) not in children", "(asthma", "asthma) in children",
     "asthma [see note 1] in children",
     "does aspirin AND ibuprofen help?", 'what is "long COVID"?', "IS ASPIRIN OR IBUPROFEN BETTER FOR CHILDREN",
     "HLA-B*57:01 abacavir", "CYP2C19 *2 carriers", "time in the operating room (OR) and infection", '5" tubes',
     'Mice can be made by "artificial spermatids."', "benzo[a]pyrene and cancer",
     "[11C]PIB imaging", "trial [1] showed", "AND-1 in replication", "", "???", "ทำไม"],
)  # fmt: skip
def test_prose_is_a_question(text):
    it = read(text)
    assert (it.kind, it.words, it.tree) == (Kind.QUESTION, text, None)


@pytest.mark.parametrize(
    "text",
    [
        "asthma AND",
        "asthma[ti",
        "asthma[tiab:~2]",
        "#1 AND #2",
        "asthma AND (child",
        "asthma[tittle]",
        "asthma *",
        'asthma "child',
        "ast* child",
        "OR asthma",
    ],
)
def test_syntax_that_cannot_be_read_is_never_searched_as_words(text):
    with pytest.raises(InvalidInput, match="character"):
        read(text)


def test_notes_say_what_pubmed_would_do_otherwise():
    assert "narrower" in read("asthma[mh]").notes[0]
    assert "capitals" in read("asthma or wheezing AND child").notes[0]
    assert read("asthma AND child[mh:noexp]").notes == ()


def test_a_misspelt_word_of_a_question_is_read_as_the_right_one():
    right = {"diabetis": "diabetes", "metfromin": "metformin", "with": "width", "cftr": "ctfr"}
    it = read_query("Diabetis with metfromin, CFTR, anti-diabetis, diabetis2 and Diabetis", correct=right.get)
    assert it.words == "diabetes with metformin, CFTR, anti-diabetis, diabetis2 and diabetes"
    assert it.corrected == (("Diabetis", "diabetes"), ("metfromin", "metformin"))
    assert it.text == "Read as a question, Diabetis as diabetes, metfromin as metformin."
    assert read_query('"diabetis"', correct=right.get).corrected == ()
    assert read_query("the Metfromin trial", correct={"metfromin": "metformin"}.get).corrected == ()  # a name


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Inhaled steroids in children: a trial", ("inhaled", "steroids", "in", "children", "a", "trial")),
        ("asthma in children", ()),
        ("asthma " * 41, ()),
    ],
)
def test_what_may_be_a_title_is_looked_for_in_titles(text, words):
    assert read(text).title == words


@given(st.text() | st.text(alphabet='aA bB()[]"*:/-.,&19tiPMIDandANDORNOT\n“”?'))
def test_any_text_is_read_or_refused(text):
    with suppress(InvalidInput):
        assert read_query(text, bool, str.upper).text


@pytest.mark.parametrize(
    "text",
    ["A" * 100_000, "A " * 50_000, "Aa " * 30_000, "van " * 25_000, "A. " * 30_000, "1 " * 50_000, "10.1000/" * 12_000,
     "https://" * 12_000, "a[" * 50_000, "a[a" * 30_000, "a*" * 50_000, "Aa 2019 " * 12_000, "Aa et al " * 10_000,
     "a-" * 50_000, "Aa'" * 30_000, "(" * 100_000, "doi:" * 25_000, "PMID " * 20_000, "doi: " + " " * 99_000],
)  # fmt: skip
def test_hostile_text_takes_no_time(text):
    start = time.process_time()
    with suppress(InvalidInput):
        read(text)
    assert time.process_time() - start < 1


def test_a_question_is_read_in_a_tenth_of_a_millisecond():
    texts = [
        "does vitamin D reduce the risk of COVID-19 in adults over 65 years?",
        "Smith 2019 asthma",
        "statins in sepsis",
    ]
    start = time.process_time()
    for _ in range(1_000):
        for text in texts:
            read_query(text, bool)
    assert time.process_time() - start < 0.3

"""What is read of a study in an abstract, and what is not."""

import re
from decimal import Decimal
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.study_facts import article as annotated_article
from benchmarks.study_facts import measured, records
from bio_mcp.literature.quality import DESIGNS, HEADING_DESIGNS
from bio_mcp.literature.study_facts import Effect, Participants, StudyFacts, short, study_facts
from tests.support.memory_corpus import article

HUMANS, ANIMALS = ("D006801", "Humans"), ("D000818", "Animals")
TRIAL = ("D016449", "Randomized Controlled Trial")
KNOWN = {name for _, name in [*DESIGNS.values(), *HEADING_DESIGNS.values()]} | {"preclinical study"}


def read(text, title="A title", **more):
    return study_facts(text, article(title=title, **more))


def effects(text):
    return [
        " ".join(str(each) for each in (e.measure, e.value, e.low, e.high) if each is not None)
        for e in read(text).effects
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It fell (OR 2.78, 95% CI 1.76-5.19, P<0.001).", ["OR 2.78 1.76 5.19"]),
        ("It fell (odds ratio, 0.82; 95% confidence interval, 0.68-0.99).", ["OR 0.82 0.68 0.99"]),
        ("The adjusted hazard ratio was 0·72 [95% CI 0·58–0·90].", ["HR 0.72 0.58 0.90"]),
        ("HRs were 0.31 (95% CI 0.12-0.77) and 0.33 (0.14-0.76).", ["HR 0.31 0.12 0.77", "HR 0.33 0.14 0.76"]),
        (
            "It was higher (relative risk = 1.39 with a 95% confidence interval (CI) = 1.04, 1.84).",
            ["RR 1.39 1.04 1.84"],
        ),
        ("Pain fell (MD - 2.50, 95% CI - 4.30 to - 0.70).", ["MD -2.50 -4.30 -0.70"]),
        ("MMSE rose [MD: 1.82 (1.01; 2.63) p < 0.0001].", ["MD 1.82 1.01 2.63"]),
        ("The standardised mean difference (SMD) was -0.46; 95% CI: -0.80, -0.12.", ["SMD -0.46 -0.80 -0.12"]),
        ("Duration (MD -7.52 days, 95% CI -20.83 to 5.78).", ["MD -7.52 -20.83 5.78"]),
        ("More bled (rate ratio 2.37; 95% CrI 1.35 to 4.67).", ["IRR 2.37 1.35 4.67"]),
        ("The area under the curve was 0.801 (95% CI 0.72-0.88).", ["AUC 0.801 0.72 0.88"]),
        ("VDP correlated with FEV₁ (r = -0.35; P = .04).", ["r -0.35"]),
        ("CRN was more frequent (HR = 1.95, P = .019; HR = 2.12, P = .003).", ["HR 1.95", "HR 2.12"]),
        ("Remission was more frequent (difference 10.8%; 95% CI 2.1-19.5).", ["difference 10.8 2.1 19.5"]),
        ("Per 5 mmol/L (aOR, 1.99 [per 5 mmol/L increase]; 95% CI, 1.42-2.79).", ["OR 1.99 1.42 2.79"]),
    ],
)
def test_an_effect_is_read(text, found):
    assert effects(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "The prevalence was 7.87% (95% CI 6.69-9.24).",
        "Sensitivity was 54.3% (95% CI: 40.2-67.9%).",
        "The number needed to treat was 7.2 (95% CI 3.7-135.0).",
        "Odds ratios (OR) with 95% confidence intervals (CI) were calculated.",
        "Correlations with heart rate (HR) were sought. HR 0.72 (0.58-0.90) was seen.",
        "The AUC was 123 (95% CI 110-140) ng h/mL.",
        "OR 1.5 (95% CI 2.1-3.0) is misprinted.",
        "A hazard ratio was given. The median was 36 (95% CI: 32-41).",
        "There was no difference in age between men (50.2 vs 51.3 years).",
        "R² = 0.45, p = 0.01.",
        "Patients OR controls: 5 (3-8).",
    ],
)
def test_what_is_no_effect_is_not_read(text):
    assert effects(text) == []


def test_an_effect_has_its_level_p_value_outcome_and_place():
    text = "RESULTS: Treatment reduced the risk of stroke (hazard ratio [HR] 0.72; 90% CI 0.58 to 0.90; p=0.003)."
    (effect,) = read(text).effects
    assert (effect.level, effect.p, effect.outcome) == (Decimal(90), "0.003", "stroke")
    assert text[effect.start : effect.end] == "hazard ratio [HR] 0.72; 90% CI 0.58 to 0.90; p=0.003"


@pytest.mark.parametrize(
    ("text", "n", "place"),
    [
        ("A total of 1,645 patients were randomized.", 1645, "1,645 patients"),
        ("METHODS: Eighty-five subjects (30 in one group) completed the follow-up.", 85, "Eighty-five subjects"),
        ("RESULTS: One hundred and five women were enrolled.", 105, "One hundred and five women"),
        ("RESULTS: One-hundred twenty-seven women were enrolled.", 127, "One-hundred twenty-seven women"),
        ("A total of 55 528 past-year adult smokers took part.", 55528, "55 528 past-year adult smokers"),
        ("We saw 47 cases of rosacea and 39 healthy controls.", 86, "47 cases of rosacea and 39 healthy controls"),
        ("RESULTS: Of 3133 women, 2799 (89.3%) had normal levels.", 3133, "3133 women"),
        ("Healthy adults (n = 194) were recruited from clinics.", 194, "(n = 194"),
        ("We saw adults with gout (n = 40), relatives (n = 11), and controls (HC; n = 38).", 89,
         "(n = 40), relatives (n = 11), and controls (HC; n = 38"),
        ("Six patients (one man and five women) and 13 healthy controls were studied.", 19,
         "Six patients (one man and five women) and 13 healthy controls"),
        ("In a cohort of 450 patients, 11 had gout. Among 200 patients who were asked, 5 fell.", 450, "450 patients"),
        ("We measured it. Patients of 65 years (n = 737) and 80 years (n = 105) came.", 842,
         "(n = 737) and 80 years (n = 105"),
        ("METHODS: We used a population of 114 patients.", 114, "114 patients"),
        ("The sample included 205 Tamil, 216 Telugu and 200 Hindi patients.", 621,
         "205 Tamil, 216 Telugu and 200 Hindi patients"),
        ("We included 277 people who experienced pain.", 277, "277 people"),
        ("Seizures were seen in 692 (6.8%) of the 10,170 infants. Among 7522 infants exposed, 5% died.", 10170,
         "10,170 infants"),
        ("The sample consisted of 181 students (87.2% female).", 181, "181 students"),
        ("Falls are common. Twenty-two collegiate runners wore a device.", 22, "Twenty-two collegiate runners"),
        ("RESULTS: 96 patients were screened and 60 were enrolled.", 60, "60 were enrolled"),
    ],
)  # fmt: skip
def test_participants_are_counted(text, n, place):
    found = read(text).participants
    assert found.n == n
    assert text[found.start : found.end] == place


@pytest.mark.parametrize(
    "text",
    [
        "We will enrol 364 patients with rectal cancer.",
        "BACKGROUND: In 2018, 200 patients were treated in a pilot trial.",
        "More than 100 patients were treated.",
        "26 (87%) of 30 patients in each group had their tumours resected.",
        "The rate was 50 per 100,000 people.",
        "A planned sample size of 304 participants was not reached.",
        "Patients were aged 65 years; 12 patients (8%) died.",
        "Twenty-four rats were included.",
        "In group A 30 patients were treated, in group B 31 patients.",
        "We invited 2655 women to participate. A total of 227 parents were invited.",
        "Sample 1 included 38 student participants. Sample 2 included 67 young participants.",
        "It was measured in 92 patients with gout; 46 patients with no gout were seen.",
        "Patients with gout (n = 60) will be recruited.",
    ],
)
def test_what_is_no_number_of_participants_is_not_read(text):
    found = read(text).participants
    assert found is None or found.n is None


def test_a_review_has_the_number_of_its_studies():
    text = "RESULTS: We included 17 studies (2604 participants) in this review; 4 studies (229 participants) used foam."
    assert read(text, title="Foam: a systematic review").participants == Participants(2604, 17, 33, 50)
    text = "RESULTS: Seven trials with a total of 1,773 patients and 3 studies with a total of 12,528 adults were read."
    found = read(text, title="Foam: a systematic review").participants
    assert (found.n, found.studies) == (14301, 10)
    screened = (
        "RESULTS: Of the 229 studies identified, 6 were suitable. Two reviewers independently assessed the papers."
    )
    assert read(screened, title="Foam: a systematic review").participants is None
    assert read("RESULTS: We included 17 studies.", title="A cohort study").participants is None


@pytest.mark.parametrize(
    ("text", "mesh", "humans"),
    [
        ("Cells grew.", [HUMANS, ANIMALS], True),
        ("Patients were treated; patients did well.", [ANIMALS], False),
        ("Patients were treated; these patients did well.", [], True),
        ("Rats were fed. The rats grew.", [], False),
        ("A 54-year-old man fell.", [], True),
        ("The participants of this experiment were happy.", [], True),
        ("Nanofibres were spun.", [], None),
        ("Cells were cultured in vitro, of patients and other patients.", [], None),
    ],
)
def test_whether_people_were_studied_is_said_by_mesh_else_by_the_text(text, mesh, humans):
    assert read(text, mesh=mesh).humans is humans


@pytest.mark.parametrize(
    ("text", "title", "types", "design"),
    [
        ("This was a retrospective cohort study of women.", "A title", [], "cohort study"),
        ("We did a randomised, controlled, phase 2 trial.", "A title", [], "randomized controlled trial"),
        ("Further randomized controlled trials are needed.", "A title", [], None),
        ("It is a review.", "Foam: a systematic review and network meta-analysis", [], "network meta-analysis"),
        ("This cohort study is old.", "A title", [TRIAL], "randomized controlled trial"),
        ("This was a cohort study.", "A title", [("D016448", "Multicenter Study")], "cohort study"),
        ("Adults were asked.", "A title", [("D017065", "Practice Guideline")], "practice guideline"),
        ("Mice were fed. The mice grew.", "A title", [], "preclinical study"),
    ],
)
def test_the_design_is_that_of_nlm_else_what_the_study_says_of_itself(text, title, types, design):
    assert read(text, title, types=types).design == design


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        (
            StudyFacts(
                "randomized controlled trial",
                participants=Participants(334, None, 0, 1),
                effects=(Effect("HR", Decimal("0.72"), 0, 1, Decimal("0.58"), Decimal("0.90"), Decimal(95)),),
            ),
            "RCT, n = 334; HR 0.72, 95 % CI 0.58 to 0.90",
        ),
        (StudyFacts("meta-analysis", participants=Participants(None, 5, 0, 1)), "meta-analysis, 5 studies"),
        (StudyFacts(effects=(Effect("r", Decimal("0.48"), 0, 1, p="< 0.001"),)), "r 0.48, p < 0.001"),
        (StudyFacts(), ""),
    ],
)
def test_the_short_line(facts, line):
    assert short(facts) == line


def test_of_abstracts_that_no_rule_was_written_for_most_is_read_and_right():
    figures = measured("held_out")[1]
    least = {"participants": (0.88, 0.86), "effects, value and interval": (0.99, 0.99), "humans": (0.99, 0.99)}
    for name, floors in least.items():
        for pairs, floor in zip(figures[name], floors, strict=True):
            assert sum(right for right, _ in pairs) >= floor * sum(whole for _, whole in pairs), name


def test_what_is_read_of_real_abstracts_stands_at_its_place():
    for record in records("held_out"):
        text = record["abstract"]
        facts = study_facts(text, annotated_article(record))
        assert facts.design is None or facts.design in KNOWN
        for effect in facts.effects:
            assert str(abs(effect.value)).lstrip("0") in re.sub("[·⋅]", ".", text[effect.start : effect.end])
        if facts.participants and facts.participants.n and text[facts.participants.start].isdigit():
            assert re.sub(r"\D", "", text[facts.participants.start : facts.participants.end])


PIECES = "patients|12 | and |(n = 5) |OR |0.5 |95% CI |(|)|-|1.2-1.3|; |. A|µ|five-|İ".split("|")


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=8)).map("".join))
def test_any_text_can_be_read(text):
    facts = read(text)
    places = [*facts.effects, *([facts.participants] if facts.participants else [])]
    assert all(0 <= each.start < each.end <= len(text) for each in places)
    short(facts)


HOSTILE = """555555555|5-a|(1 |a-|95% CI |OR 1.1 |OR (|12 patients and |1, |area under a |[|: A|(n=1|two |randomized |
P = 0.1, HR |risk of a |3 patients (a) |3 patients; |men (n=1) and |(1%) of the 3 men. """.replace("\n", "").split("|")


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_is_read_in_time_that_grows_with_its_length(piece):
    start = process_time()
    read(piece * (100_000 // len(piece)))
    assert process_time() - start < 5

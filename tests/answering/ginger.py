"""A small literature on ginger and nausea, and other papers that it stands out from."""

from dataclasses import replace

from bio_mcp.literature.records import AbstractSection
from tests.support.memory_corpus import Corpus, article

QUESTION = "Does ginger reduce nausea in pregnancy?"
TRIAL = article(
    "11",
    "Ginger in pregnancy.",
    "Nausea is common. We gave ginger or placebo to 120 women. Ginger reduced nausea in pregnancy by 40%.",
)
SECTIONS = (
    AbstractSection("BACKGROUND", "BACKGROUND", "Many women feel sick."),
    AbstractSection("RESULTS", "RESULTS", "Nausea in pregnancy was less with ginger. Headache was not."),
)
LABELLED = replace(article("12", "A trial of ginger."), abstract=SECTIONS)
META = article("13", "Ginger: a meta-analysis.", "Twelve trials were found. Ginger reduces nausea in early pregnancy.")
GINGER = (TRIAL, LABELLED, META)
AGAIN = article(
    "14",
    "Ginger against nausea.",
    "Ginger reduced nausea in pregnancy within a week. More ginger reduced nausea in pregnancy by 50%.",
)
"""With it an answer is given whatever the vectors say of the others."""
OTHERS = [
    article(str(pmid), f"{organ} after surgery.", f"The {organ.lower()} was imaged. {organ} healed within weeks.")
    for pmid, organ in enumerate(("Liver", "Kidney", "Spleen", "Retina", "Cornea", "Tibia", "Femur", "Ulna"), 50)
]


def corpus_of(*papers, tau=0.2):
    """These papers among the others, and answers from a confidence of `tau`."""
    made = Corpus(*papers, *OTHERS)
    made.answer_tau = tau
    return made

"""What the check of generated sentences lets pass, on abstracts of PubMedQA (development half) and their conclusions.

    python -m benchmarks.sentence_check [--questions 200]

A conclusion is what the authors wrote of their own abstract in other words: cited with it, it should pass, and cited
with one of the three most similar other abstracts it should not. Copies are sentences of an abstract cited with
themselves. Distortions change one thing of a copy: a number, its unit, a denial, a direction, a name with a digit.
"""

import argparse
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache

import numpy as np

from benchmarks.off_topic import pubmedqa
from benchmarks.retrieval import MODEL, KeptEmbeddings
from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings
from bio_mcp.answering.writing import SUPPORTED_FROM, CheckedSentence, Problem, check
from bio_mcp.retrieval.chunking import sentence_spans

THRESHOLDS = (0.5, 0.55, SUPPORTED_FROM, 0.65, 0.7)
NEAREST = 3  # other abstracts
FLIPPED = {"increased": "decreased", "decreased": "increased", "higher": "lower", "lower": "higher"}


def number(sentence: str) -> str:
    return re.sub(r"(?<![\w.-])\d+", lambda digits: str(int(digits.group()) + 1), sentence, count=1)


def unit(sentence: str) -> str:
    return re.sub(r"(?<=\d) ?%|(?<=\d) mg\b|(?<=\d) years\b", " weeks", sentence, count=1)


def denial(sentence: str) -> str:
    return re.sub(r"\b(was|were|is|are|did|had) not\b", r"\1", sentence, count=1)


def denied(sentence: str) -> str:
    return re.sub(r"\b(was|were|is|are)\b(?! not)", r"\1 not", sentence, count=1)


def direction(sentence: str) -> str:
    return re.sub(rf"\b({'|'.join(FLIPPED)})\b", lambda word: FLIPPED[word.group()], sentence, count=1)


def name(sentence: str) -> str:
    return re.sub(r"\b([A-Z]{2,}-?)(\d)", lambda each: f"{each[1]}{int(each[2]) + 1}", sentence, count=1)


DISTORTIONS: tuple[Callable[[str], str], ...] = (number, unit, denial, denied, direction, name)


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


class Measured:
    """The first `questions` of the set, with one similarity for all."""

    def __init__(self, questions: int) -> None:
        held = list(pubmedqa().values())[:questions]
        self.model = KeptEmbeddings(OnnxEmbeddings(MODEL, threads=1))
        self.abstracts = [[each for part in item["CONTEXTS"] for each in sentences(part)] for item in held]
        self.conclusions = [sentences(item["LONG_ANSWER"]) for item in held]
        self.model.embed([each for texts in (*self.abstracts, *self.conclusions) for each in texts])
        means = np.stack([self.model.embed(each).mean(axis=0) for each in self.abstracts])
        means /= np.linalg.norm(means, axis=1, keepdims=True)
        cosines = means @ means.T
        np.fill_diagonal(cosines, -1)
        self.nearest = np.argsort(-cosines, axis=1)[:, :NEAREST]

    @cache  # noqa: B019  one object, for the length of a run
    def vector(self, text: str) -> "np.ndarray[tuple[int], np.dtype[np.float32]]":
        return self.model.embed([text])[0]

    def similarity(self, sentence: str, passage: str) -> float:
        return float(self.vector(sentence) @ self.vector(passage))

    def checked(self, sentence: str, passages: Sequence[str]) -> CheckedSentence:
        citation = f"[1-{min(20, len(passages))}]"
        [first, *_] = check(f"{sentence.rstrip('.')} {citation}.", passages[:20], self.similarity)
        return first

    def concluded(self, *, own: bool) -> Iterator[CheckedSentence]:
        for at, conclusion in enumerate(self.conclusions):
            for other in [at] if own else self.nearest[at]:
                yield from (self.checked(each, self.abstracts[other]) for each in conclusion if len(each.split()) > 4)

    def copies(self) -> Iterator[tuple[str, list[str]]]:
        for abstract in self.abstracts:
            yield from ((each, [each]) for each in abstract if len(each.split()) > 4)


def share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / max(1, whole):.1%})"


def passing(checked: Sequence[CheckedSentence]) -> str:
    return share(sum(each.problem is None for each in checked), len(checked))


def reasons(checked: Sequence[CheckedSentence]) -> str:
    return ", ".join(f"{each.name.lower()} {n}" for each, n in Counter(c.problem for c in checked if c.problem).items())


def main() -> None:
    """Print what passes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=200)
    measured = Measured(parser.parse_args().questions)
    own, others = list(measured.concluded(own=True)), list(measured.concluded(own=False))
    print("support at least   conclusions with their own abstract   with a similar other one")
    for least in THRESHOLDS:
        rates = [sum(each.support >= least for each in kind) / len(kind) for kind in (own, others)]
        print(f"{least:<18} {rates[0]:<37.1%} {rates[1]:.1%}")
    print(f"\nconclusions that pass: {passing(own)}; not: {reasons(own)}")
    print(f"with another abstract: {passing(others)}; not: {reasons(others)}")
    copies = list(measured.copies())
    print(f"copies that pass: {passing([measured.checked(*each) for each in copies])}")
    for distort in DISTORTIONS:
        changed = [(distort(each), source) for each, source in copies if distort(each) != each]
        found = [measured.checked(*each).problem for each in changed]
        print(f"distorted ({distort.__name__}) and found: {share(sum(each is not None for each in found), len(found))}")
    assert Problem.SUPPORT in {each.problem for each in others}


if __name__ == "__main__":
    main()

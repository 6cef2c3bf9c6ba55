"""What became of one question, small enough to be saved in a job."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class RankingOutcome:
    """Where a question's papers stand in the answer of a search, from 1, retracted papers not counted.

    `near_miss` is the best place of the papers most similar to them that do not answer the question.
    """

    places: tuple[int, ...] = ()
    near_miss: int | None = None


@dataclass(frozen=True, slots=True)
class CitedOutcome:
    """One citation of an answer. `right`: its paper answers the question; `near_miss`: it is most similar to one.

    `evidence`: the quote overlaps a rationale. `intact`: it stands at its place in the stored version, to the byte.
    """

    right: bool = False
    evidence: bool = False
    intact: bool = True
    near_miss: bool = False
    retracted: bool = False

    def letters(self) -> str:
        """The properties that it has, a letter each."""
        return "".join(letter for letter, name in _LETTERS.items() if getattr(self, name))

    @classmethod
    def from_letters(cls, letters: str) -> Self:
        """The citation that `letters` wrote."""
        return cls(**{name: letter in letters for letter, name in _LETTERS.items()})


_LETTERS = {"r": "right", "e": "evidence", "i": "intact", "n": "near_miss", "x": "retracted"}


@dataclass(frozen=True, slots=True)
class AnswerOutcome:
    """An answer, or where it was withheld (`answered` is False) what was found.

    `sentences` has for each sentence of the answer the citations that it rests on, as places in `cited`.
    """

    answered: bool
    confidence: float
    cited: tuple[CitedOutcome, ...] = ()
    sentences: tuple[tuple[int, ...], ...] = ()

    @property
    def right(self) -> bool:
        """Whether a right paper is among those cited."""
        return any(each.right for each in self.cited)

    def to_json(self) -> list[Any]:
        """The answer as a job holds it."""
        return [self.answered, self.confidence, [each.letters() for each in self.cited], self.sentences]

    @classmethod
    def from_json(cls, given: list[Any]) -> Self:
        """The answer that `to_json` wrote."""
        answered, confidence, cited, sentences = given
        return cls(answered, confidence, tuple(map(CitedOutcome.from_letters, cited)), tuple(map(tuple, sentences)))


@dataclass(frozen=True, slots=True)
class Outcome:
    """A question that was asked. `relevant` is how many papers answer it, `judged`: its rationale is known.

    `answer` was drawn from the whole corpus, `without` from one in which those papers are not; None where the
    question was searched for only, and `without` also where no paper answers it.
    """

    question_id: str
    relevant: int
    ranking: RankingOutcome
    judged: bool = False
    answer: AnswerOutcome | None = None
    without: AnswerOutcome | None = None

    @property
    def answers(self) -> tuple[AnswerOutcome, ...]:
        """Both answers, as far as they were asked for."""
        return tuple(each for each in (self.answer, self.without) if each)

    def to_json(self) -> dict[str, Any]:
        """The outcome as a job holds it."""
        return {
            "id": self.question_id,
            "relevant": self.relevant,
            "ranking": asdict(self.ranking),
            "judged": self.judged,
            "answer": self.answer and self.answer.to_json(),
            "without": self.without and self.without.to_json(),
        }

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Self:
        """The outcome that `to_json` wrote."""
        places, near = given["ranking"]["places"], given["ranking"]["near_miss"]
        answer, without = (
            AnswerOutcome.from_json(each) if (each := given[name]) else None for name in ("answer", "without")
        )
        ranking = RankingOutcome(tuple(places), near)
        return cls(given["id"], given["relevant"], ranking, given["judged"], answer, without)

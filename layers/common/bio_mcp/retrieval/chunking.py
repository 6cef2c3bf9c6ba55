"""Cut an article into passages that the embedding model can read whole.

A window is the title and three sentences, with a stride of two: on SciFact and NFCorpus the best window ranks
better than one vector per abstract (docs/benchmarks.md). Sections come from the record's AbstractText elements.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bio_mcp.literature.records import AbstractSection, Article
from bio_mcp.retrieval.passages import Chunk
from bio_mcp.retrieval.sentences import Span, sentence_spans, trim

CountTokens = Callable[[Sequence[str]], list[int]]

SENTENCES = 3
STRIDE = 2
TITLE_SHARE = 0.5  # of the model's tokens, at most
SAFE_SHARE = 0.9  # of the model's tokens; a sum of parts beyond it is counted as a whole

_NO_LABEL = {"", "UNLABELLED", "UNLABELED", "UNASSIGNED"}
_SPACE = re.compile(r"\s+")


def abstract_text(article: Article) -> str:
    """The abstract as one text, each labelled section led by its label: "BACKGROUND: ... METHODS: ...".

    Offsets of chunks (`char_start`, `char_end`) count in this text.
    """
    return " ".join(_section_text(section) for section in article.abstract)


def citable_spans(article: Article) -> Iterator[Span]:
    """Yield the span of each section of `abstract_text`, without the label that leads it."""
    for section, (_, end) in _sections(article):
        yield end - len(section.text), end


def _section_text(section: AbstractSection) -> str:
    label = (section.label or "").strip()
    return section.text if label.upper() in _NO_LABEL else f"{label}: {section.text}"


def _sections(article: Article) -> Iterator[tuple[AbstractSection, Span]]:
    """Yield each section of the abstract with its span in `abstract_text`."""
    start = 0
    for section in article.abstract:
        end = start + len(_section_text(section))
        yield section, (start, end)
        start = end + 1


def chunks_of(article: Article, count_tokens: CountTokens, max_tokens: int) -> tuple[Chunk, ...]:
    """The passages of `article`, in order; together they cover every character of its abstract that is no space.

    `count_tokens` counts in the model's own tokens, special ones included; no `embedded_text` is longer than
    `max_tokens`. An article without an abstract has one chunk, its title; without a title, its journal or PMID.
    """
    text = abstract_text(article)
    fit = WindowFitter(text, _title(article), count_tokens, max_tokens)
    chunks: list[Chunk] = []
    labelled = any((each.label or "").strip().upper() not in _NO_LABEL for each in article.abstract)
    sections = _sections(article) if labelled else [(None, (0, len(text)))]
    for number, (section, span) in enumerate(sections):
        windows = fit.windows(span)
        for place, (start, end) in enumerate(windows):
            within = f"s{number}" if len(windows) == 1 else f"s{number}_{place}"
            chunk_id = within if labelled else f"w{place}"
            passage = text[start:end]
            chunks.append(Chunk(chunk_id, passage, fit.model_input(passage), _name(section), start, end))
    return tuple(chunks) or (_title_chunk(article, count_tokens, max_tokens),)


def _name(section: AbstractSection | None) -> str | None:
    if section is None or (section.label or "").strip().upper() in _NO_LABEL:
        return None
    return section.label


def _title(article: Article) -> str:
    return (article.title or article.vernacular_title or "").strip()


def _title_chunk(article: Article, count_tokens: CountTokens, max_tokens: int) -> Chunk:
    journal = article.journal.title if article.journal else None
    shown = _title(article) or journal or f"PMID {article.pmid}"
    return Chunk("w0", "", cut_to(shown, count_tokens, max_tokens), None, 0, 0)


def whole_chunk(article: Article, count_tokens: CountTokens, max_tokens: int) -> Chunk:
    """Title and abstract as one passage, cut to what the model reads: for an index that finds papers, not passages."""
    shown = f"{_title(article)} {abstract_text(article)}".strip()
    return Chunk("w0", "", cut_to(shown, count_tokens, max_tokens), None, 0, 0)


def cut_to(text: str, count_tokens: CountTokens, limit: int) -> str:
    """Cut `text` to as many leading words (characters, in a script without spaces) as `limit` tokens hold."""
    length = count_tokens([text])[0]
    while length > limit and len(text) > 1:
        shorter = text[: max(1, min(len(text) - 1, len(text) * limit // length))]
        at_word = shorter.rpartition(" ")[0]
        text = at_word if len(at_word) > len(shorter) // 2 else shorter
        length = count_tokens([text])[0]
    return text.rstrip()


@dataclass(slots=True)
class Sized:
    """A sentence, or a piece of one, with its length in tokens, special tokens not counted."""

    start: int
    end: int
    tokens: int


Group = Callable[[Sequence[Sized], int], Iterator[list[Sized]]]


class WindowFitter:
    """Cuts a text into windows that fit the model together with the title.

    A title longer than `TITLE_SHARE` of the model's tokens is cut, so that the passage always has room. `group` yields
    the sentences of each window, given all sentences and the tokens that a window has room for.
    """

    def __init__(
        self, text: str, title: str, count_tokens: CountTokens, max_tokens: int, group: Group | None = None
    ) -> None:
        self._text, self._count, self._limit = text, count_tokens, max_tokens
        self._group = group or _group_sentences
        self._special = 0
        self._title, self._title_tokens = title, 0
        if text:
            self._special, total = count_tokens(["", title])
            self._title_tokens = total - self._special
            if self._title_tokens > max_tokens * TITLE_SHARE:
                self._title = cut_to(title, count_tokens, int(max_tokens * TITLE_SHARE))
                self._title_tokens = count_tokens([self._title])[0] - self._special

    @property
    def title(self) -> str:
        """The title as far as it is given to the model."""
        return self._title

    def model_input(self, passage: str) -> str:
        """The text that the model is given for a passage: title, then passage."""
        return f"{self._title} {passage}" if self._title else passage

    def windows(self, span: Span) -> list[Span]:
        """Windows over the sentences in `span`, in order, as spans of the abstract."""
        first, room = span[0], self._limit - self._special - self._title_tokens
        sentences = self._with_token_counts(sentence_spans(self._text[slice(*span)]), first)
        if any([each.tokens > room for each in sentences]):
            sentences = [piece for each in sentences for piece in self._pieces(each, room)]
        return self._within_limit(list(self._group(sentences, room)))

    def _with_token_counts(self, spans: Sequence[Span], first: int = 0) -> list[Sized]:
        """The pieces at `spans`, which count from the character `first`."""
        text, special = self._text, self._special
        counts = self._count([text[first + start : first + end] for start, end in spans]) if spans else []
        return [
            Sized(first + start, first + end, count - special)
            for (start, end), count in zip(spans, counts, strict=True)
        ]

    def _pieces(self, sentence: Sized, room: int) -> list[Sized]:
        """Halve the sentence near its middle until each piece fits `room` tokens."""
        if sentence.tokens <= room or sentence.end - sentence.start < 2:
            return [sentence]
        middle = _cut_near_middle(self._text, sentence.start, sentence.end)
        halves = [trim(self._text, sentence.start, middle), trim(self._text, middle, sentence.end)]
        return [piece for half in self._with_token_counts(halves) for piece in self._pieces(half, room)]

    def _within_limit(self, groups: list[list[Sized]]) -> list[Span]:
        """Turn groups into spans. A group close to the limit is counted as a whole, and split when it is over.

        A sum of token counts is only an estimate: joining two texts may add a token.
        """
        safe = self._limit - self._special - self._title_tokens - self._limit * (1 - SAFE_SHARE)
        spans: list[Span] = []
        for group in groups:
            span = (group[0].start, group[-1].end)
            if sum([each.tokens for each in group]) > safe and self._over(span):
                spans += self._split(group)
            else:
                spans.append(span)
        return spans

    def _over(self, span: Span) -> bool:
        return self._count([self.model_input(self._text[slice(*span)])])[0] > self._limit

    def _split(self, group: list[Sized]) -> list[Span]:
        """Halve a group that is too long; a single sentence is cut into pieces."""
        if len(group) > 1:
            half = len(group) // 2
            return self._within_limit([group[:half], group[half:]])
        pieces = self._pieces(group[0], max(1, group[0].tokens - 1))
        return (
            self._within_limit([[piece] for piece in pieces]) if len(pieces) > 1 else [(group[0].start, group[0].end)]
        )


def _group_sentences(sentences: Sequence[Sized], room: int) -> Iterator[list[Sized]]:
    """Yield runs of at most `SENTENCES` that fit `room` tokens, each `STRIDE` after the last where that skips none."""
    start, count = 0, len(sentences)
    while start < count:
        end, left = start + 1, room - sentences[start].tokens
        most = min(start + SENTENCES, count)
        while end < most and (left := left - sentences[end].tokens) >= 0:
            end += 1
        yield list(sentences[start:end])
        if end == count:
            return
        start = min(start + STRIDE, end)


def _cut_near_middle(text: str, start: int, end: int) -> int:
    """The space nearest to the middle of the span; the middle itself in a script without spaces."""
    middle = (start + end) // 2
    spaces = [space.start() for space in _SPACE.finditer(text, start + 1, end - 1)]
    return min(spaces, key=lambda at: abs(at - middle)) if spaces else middle

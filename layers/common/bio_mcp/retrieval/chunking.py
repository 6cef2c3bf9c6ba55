"""Sentences, the passages of papers and documents that are cut between them, and the index entries of them."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from bio_mcp.literature import quality
from bio_mcp.literature.documents import SEPARATOR, ParsedDocument
from bio_mcp.literature.records import AbstractSection, Article, Document
from bio_mcp.literature.study_facts import StudyFacts, short, study_facts
from bio_mcp.retrieval.abbreviations import defined_names
from bio_mcp.retrieval.analysis import analyse
from bio_mcp.retrieval.passages import Chunk, Entry, chunk_uuid
from bio_mcp.retrieval.project_chunks import ProjectChunk, Work
from bio_mcp.retrieval.pubmed_syntax import fields_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


Span = tuple[int, int]

ABBREVIATIONS = frozenset(
    """
    al approx assoc ca cf co dept diam dr e.g eg eq eqs etc exp ext fig figs i.e ie inc incl ltd max min mr mrs ms
    nr ns no nos p.o prof ref refs resp sec sp spp ssp st subsp subspp suppl tab u.s u.k univ var viz vol vs wt yr
    yrs i.v i.p i.m s.c b.i.d t.i.d q.i.d
    """.split()
)

# begins with one class of characters, which is searched for quickly, and tells by looking back which it was;
# nowhere does a run of characters begin to match at more than one of them: the time is that of the text's length;
# a full stop, with what closes the sentence after it; then either space and something that can begin a sentence
# ("p53", "mRNA", "α-tubulin" too) or, as in texts whose sections were glued together, a capitalised word at once
_END = re.compile(
    r"""[.!?。！？\n](?:
          (?<=[.!?]) (?<![.!?].) [.!?]*+ ['"”’)\]]*
                              (?: \s+ (?= ['"“‘(\[]* (?: [^\W_a-z] | [a-z]{0,3}[A-Z0-9-]) )
                              | (?<= [a-zα-ω0-9%)\]][.!?] ) (?= [A-Z][a-z]+ [\s,-] ) )
        | (?<=[。！？]) [。！？]* \s*
        | (?<=\n) \s*
        )""",
    re.VERBOSE,
)
_LONGER = 1 + max(map(len, ABBREVIATIONS))  # letters that no abbreviation has


def sentence_spans(text: str) -> list[Span]:
    """(start, end) of each sentence, in order, without the space around it.

    The spans do not overlap and cover every character of `text` that is not a space. Time is linear in the text.
    """
    cuts = [0, *[match.end() for match in _END.finditer(text) if _ends(text, match)], len(text)]
    spans = [trim(text, start, end) for start, end in pairwise(cuts)]
    return [span for span in spans if span[0] < span[1]]


def _ends(text: str, match: re.Match[str]) -> bool:
    """Whether this full stop ends a sentence, and no abbreviation or initial."""
    stop, end = match.span()
    if text[stop] != "." or (text[max(0, stop - _LONGER) : stop].isalpha() and stop >= _LONGER):
        return True
    before = text[max(0, stop - 24) : stop].replace("(", " ").replace("[", " ")
    word = "" if not before or before[-1].isspace() else before.split()[-1]
    if word.lower() in ABBREVIATIONS:
        return False
    glued = not text[end - 1].isspace()
    initial = len(word) == 1 and word.isupper()
    if not initial:
        return not (glued and len(word) == 1)
    return not glued and not _begins_or_follows_initial(text, stop - 1)


def _begins_or_follows_initial(text: str, at: int) -> bool:
    while at and text[at - 1].isspace():
        at -= 1
    return not at or text[at - 1] == "."


def trim(text: str, start: int, end: int) -> Span:
    """The span without the space at its ends."""
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end


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
    return " ".join(f"{label}: {each.text}" if (label := _label(each)) else each.text for each in article.abstract)


class Stated(NamedTuple):
    """What an abstract states of its study, and that in one line; places are in `abstract_text`."""

    facts: StudyFacts
    short: str


@dataclass(frozen=True, slots=True)
class _Read:
    """An article with all that its study's facts follow from, by which they are kept."""

    stated: tuple[str | None, ...]
    article: Article = field(compare=False)


@lru_cache(1024)
def _study_of(read: _Read) -> Stated:
    facts = study_facts(abstract_text(read.article), read.article)
    return Stated(facts, short(facts))


def study_of(article: Article) -> Stated:
    """The study of an article. The last ones are kept, as reading one takes over a millisecond."""
    stated = [article.title, *[each.ui for each in article.publication_types], "", *[each.ui for each in article.mesh]]
    for each in article.abstract:
        stated += each.label, each.text
    return _study_of(_Read(tuple(stated), article))


def citable_spans(article: Article) -> Iterator[Span]:
    """Yield the span of each section of `abstract_text`, without the label that leads it."""
    end = -1
    for section in article.abstract:
        label = _label(section)
        start = end + 1 + (len(label) + len(": ") if label else 0)
        end = start + len(section.text)
        yield start, end


def _label(section: AbstractSection) -> str:
    """The label that leads the section's text; "" without one that says something."""
    label = (section.label or "").strip()
    return "" if label.upper() in _NO_LABEL else label


def chunks_of(article: Article, count_tokens: CountTokens, max_tokens: int) -> tuple[Chunk, ...]:
    """The passages of `article`, in order; together they cover every character of its abstract that is no space.

    `count_tokens` counts in the model's own tokens, special ones included; no `embedded_text` is longer than
    `max_tokens`. An article without an abstract has one chunk, its title; without a title, its journal or PMID.
    """
    text, title = abstract_text(article), (article.title or article.vernacular_title or "").strip()
    fit = WindowFitter(text, title, count_tokens, max_tokens)
    chunks: list[Chunk] = []
    labels = list(map(_label, article.abstract))
    labelled = any(labels)
    ends = [end for _, end in citable_spans(article)] if labelled else [len(text)]
    starts = [0, *(end + 1 for end in ends)]
    for number, span in enumerate(zip(starts, ends, strict=False)):
        windows = fit.windows(span)
        for place, (start, end) in enumerate(windows):
            within = f"s{number}" if len(windows) == 1 else f"s{number}_{place}"
            chunk_id = within if labelled else f"w{place}"
            passage, name = text[start:end], labels[number] if labelled else ""
            chunks.append(Chunk(chunk_id, passage, fit.model_input(passage), name or None, start, end))
    if chunks:
        return tuple(chunks)
    shown = title or (article.journal.title if article.journal else None) or f"PMID {article.pmid}"
    return (Chunk("w0", "", cut_to(shown, count_tokens, max_tokens), None, 0, 0),)


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
    """Cuts a text into windows that fit the model together with the `title`, as far as that is given to it.

    A title longer than `TITLE_SHARE` of the model's tokens is cut, so that the passage always has room. `group` yields
    the sentences of each window, given all sentences and the tokens that a window has room for.
    """

    def __init__(
        self, text: str, title: str, count_tokens: CountTokens, max_tokens: int, group: Group | None = None
    ) -> None:
        self._text, self._count, self._limit = text, count_tokens, max_tokens
        self._group = group or _group_sentences
        self._special = 0
        self.title, self._title_tokens = title, 0
        if text:
            self._special, total = count_tokens(["", title])
            self._title_tokens = total - self._special
            if self._title_tokens > max_tokens * TITLE_SHARE:
                self.title = cut_to(title, count_tokens, int(max_tokens * TITLE_SHARE))
                self._title_tokens = count_tokens([self.title])[0] - self._special

    def model_input(self, passage: str) -> str:
        """The text that the model is given for a passage: title, then passage."""
        return f"{self.title} {passage}" if self.title else passage

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
        """Halve the sentence until each piece fits `room` tokens: at the space nearest to its middle; at the middle
        itself in a script without spaces."""
        if sentence.tokens <= room or sentence.end - sentence.start < 2:
            return [sentence]
        middle = (sentence.start + sentence.end) // 2
        spaces = (space.start() for space in _SPACE.finditer(self._text, sentence.start + 1, sentence.end - 1))
        middle = min(spaces, key=lambda at: abs(at - middle), default=middle)
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
            whole = self.model_input(self._text[slice(*span)])
            if sum([each.tokens for each in group]) > safe and self._count([whole])[0] > self._limit:
                spans += self._split(group)
            else:
                spans.append(span)
        return spans

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


REPEATED_SHARE = 0.2  # of a chunk's room: a longer last sentence is not repeated


def chunks_of_sections(
    document: ParsedDocument, work: Work, count_tokens: CountTokens, max_tokens: int
) -> tuple[ProjectChunk, ...]:
    """The chunks of a document of `work`, in order; none for a document without text.

    Together they cover every character that is no space. No `embedded_text` is longer than
    `max_tokens` (`count_tokens` counts in the model's own tokens, special ones included). Offsets count in
    `document.text`. A chunk's id follows from the document's id and its position alone.
    """
    chunks: list[ProjectChunk] = []
    offset = 0
    for section in document.sections:
        first, offset = offset, offset + len(section.text) + len(SEPARATOR)
        # Title and headings, as a sentence before the text.
        named = (each.strip() for each in (work.title or document.title or "", " > ".join(section.path)))
        context = ". ".join(filter(None, named))
        if context and context[-1] not in ".?!":
            context += "."
        fit = WindowFitter(section.text, context, count_tokens, max_tokens, _whole_sentences)
        for start, end in fit.windows((0, len(section.text))):
            chunk = ProjectChunk(
                chunk_id=chunk_uuid(work.doc_id, f"c{len(chunks)}"),
                work=work,
                text=section.text[start:end],
                position=len(chunks),
                context=fit.title,
                section=section.heading,
                section_path=section.path,
                page_span=section.pages_of(start, end),
                char_start=first + start,
                char_end=first + end,
                kind=section.kind,
            )
            chunks.append(chunk)
    return tuple(chunks)


def _whole_sentences(sentences: Sequence[Sized], room: int) -> Iterator[list[Sized]]:
    """Yield runs of sentences that fit `room` tokens; each begins with the last of the one before, if that is short."""
    start = 0
    while start < len(sentences):
        end, total = start + 1, sentences[start].tokens
        while end < len(sentences) and total + sentences[end].tokens <= room:
            total += sentences[end].tokens
            end += 1
        yield list(sentences[start:end])
        if end == len(sentences):
            return
        last = sentences[end - 1].tokens
        repeats = end - start > 1 and last <= REPEATED_SHARE * room and last + sentences[end].tokens <= room
        start = end - 1 if repeats else end


TITLE_WEIGHT = 2  # a word of the title counts as often; measured, docs/benchmarks.md


def entry_of(document: Document, chunks: Sequence[Chunk], vectors: "Mapping[str, NDArray[np.float32]]") -> Entry:
    """The index entry of `document`; `vectors` holds the chunks that were embedded, by chunk id."""
    article = document.article
    return Entry(
        pmid=article.pmid,
        version=document.version,
        title=article.title or article.vernacular_title,
        terms=search_terms(article),
        chunks=tuple(chunks),
        vectors=dict(vectors),
        year=quality.year(article),
        journal=article.journal.title if article.journal else None,
        journal_nlm_id=article.journal.nlm_id if article.journal else None,
        publication_types=tuple(each.ui for each in article.publication_types),
        quality=quality.static_quality(article),
        retraction=article.retraction,
        fields=fields_of(article),
        abbreviations=defined_names(abstract_text(article)),
        participants=stated.n if (stated := study_of(article).facts.participants) else None,
    )


def search_terms(article: Article) -> list[str]:
    """The terms of title and abstract, those of the title `TITLE_WEIGHT` times; the PMID when there is neither.

    MeSH, keywords and chemicals are left out: 98 % of fresh records have no MeSH yet, so its words would make a paper's
    rank depend on NLM's indexing queue, and no judged set with MeSH is at hand to show a gain.
    """
    title, abstract = article.title or article.vernacular_title or "", abstract_text(article)
    return [*analyse(title) * TITLE_WEIGHT, *analyse(abstract)] or [article.pmid]

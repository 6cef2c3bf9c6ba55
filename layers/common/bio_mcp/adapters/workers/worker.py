"""The process that embeds: reads articles from standard input, answers with index entries on standard output.

Started as `python -m bio_mcp.adapters.workers.worker`. What it reads and writes is pickled: the process at the other
end is the one that started it. It ends when its input ends, so none outlives that process for longer than one batch.
"""

import contextlib
import pickle
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Any

from bio_mcp.adapters.standard_streams import own_stdout
from bio_mcp.errors import Failure
from bio_mcp.literature.records import Article, Document
from bio_mcp.ports.stores import Embeddings
from bio_mcp.syncing.indexing import entries_of

Request = tuple[Sequence[Article], Mapping[str, Mapping[str, str]]]


def main() -> None:
    """Make the model that the first message names, tell its fingerprint, then answer requests until the input ends."""
    requests, answers = sys.stdin.buffer, own_stdout()
    with contextlib.suppress(BrokenPipeError):
        make: Callable[[], Embeddings] = pickle.load(requests)  # noqa: S301  from the process that started this
        for answer in _answers(make, requests):
            pickle.dump(answer, answers, pickle.HIGHEST_PROTOCOL)
            answers.flush()


def _answers(make: Callable[[], Embeddings], requests: IO[bytes]) -> Iterator[Any]:
    """Yield the fingerprint, then the entries for each request; a failure in place of either."""
    try:
        embeddings = make()
        yield embeddings.fingerprint
    except Failure as failure:
        yield failure
        return
    with contextlib.suppress(EOFError):
        while True:
            articles, known = pickle.load(requests)  # noqa: S301  from the process that started this
            yield _entries(articles, known, embeddings)


def _entries(articles: Sequence[Article], known: Mapping[str, Mapping[str, str]], embeddings: Embeddings) -> Any:
    try:
        return entries_of([Document(article, "") for article in articles], known, embeddings)
    except Failure as failure:
        return failure


if __name__ == "__main__":
    main()

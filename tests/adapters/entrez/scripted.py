"""An NCBI that gives the answers of a list, one per request, and remembers what it was asked."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from urllib.parse import parse_qs

import httpx

from bio_mcp.adapters.entrez.client import Eutils
from bio_mcp.adapters.entrez.transport import HttpTransport
from bio_mcp.adapters.rate_limit import LocalRateLimiter
from bio_mcp.adapters.retry import Backoff
from tests.adapters.clocks import Clock

KEY = "0123456789abcdef0123456789abcdef0123"
EMAIL = "secret.admin@example.org"
IP = "203.0.113.7"
WHO = {"identity": {"tool": "bio-mcp-tests", "email": EMAIL}, "key": lambda: KEY}

Step = httpx.Response | Exception | Callable[[httpx.Request], httpx.Response]


@dataclass
class Ncbi:
    steps: list[Step]
    requests: list[httpx.Request] = field(default_factory=list)
    starts: list[float] = field(default_factory=list)
    clock: Clock = field(default_factory=Clock)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        self.starts.append(self.clock.now)
        step = self.steps.pop(0)
        if isinstance(step, Exception):
            raise step
        return step if isinstance(step, httpx.Response) else step(request)

    @property
    def forms(self) -> list[dict[str, list[str]]]:
        return [parse_qs(request.content.decode(), keep_blank_values=True) for request in self.requests]


def eutils(*steps: Step, clock: Clock | None = None, tries: int = 6, **wire) -> tuple[Eutils, Ncbi]:
    """A client, and the NCBI that it speaks to; time is `clock`'s."""
    clock = clock or Clock()
    ncbi = Ncbi(list(steps), clock=clock)
    client = Eutils(
        HttpTransport("https://ncbi.test/eutils/", **WHO, transport=httpx.MockTransport(ncbi), **wire),
        pacer=LocalRateLimiter(0.1, clock, clock.sleep),
        backoff=Backoff(tries=tries, rng=lambda: 0.5, sleep=clock.sleep),
    )
    return client, ncbi


def message(content: object, status: int = 200, **headers: str) -> httpx.Response:
    """An answer: JSON for a dict, else the text or bytes themselves."""
    body = json.dumps(content).encode() if isinstance(content, dict) else content
    return httpx.Response(status, content=body, headers=headers)


def found(*pmids: int, count: int | None = None, **more: object) -> httpx.Response:
    """An ESearch answer."""
    total = len(pmids) if count is None else count
    ids = [str(pmid) for pmid in pmids]
    return message({"esearchresult": {"count": str(total), "idlist": ids, "querytranslation": "q", **more}})


def records(*pmids: int) -> httpx.Response:
    """An EFetch answer."""
    return message(article_set(*pmids))


def article_set(*pmids: int) -> bytes:
    one = (
        "<PubmedArticle><MedlineCitation><PMID Version='1'>{}</PMID><Article><ArticleTitle>T</ArticleTitle>"
        "</Article></MedlineCitation></PubmedArticle>"
    )
    body = "".join(one.format(pmid) for pmid in pmids)
    head = '<?xml version="1.0" ?>\n<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD" "https://dtd.test/pubmed.dtd">\n'
    return f"{head}<PubmedArticleSet>{body}</PubmedArticleSet>\n".encode()


def chain(failure: BaseException | None) -> Iterator[BaseException]:
    """The failure and all that it was caused by."""
    while failure is not None:
        yield failure
        failure = failure.__cause__ or failure.__context__

"""What a parse comes to, read in batches and one record at a time."""

import io

from bio_mcp.errors import NcbiUnreadable
from bio_mcp.literature.medline import parse

ROOT = b"<PubmedArticleSet>"
UNPLAIN = b"<PubmedArticleSet one-at-a-time=''>"  # a root with an attribute is not read in batches


def record(pmid, title=b"T.", after=b""):
    return (
        b'\n<PubmedArticle><MedlineCitation><PMID Version="1">%d</PMID><Article><ArticleTitle>%b</ArticleTitle>'
        b"</Article></MedlineCitation>%b</PubmedArticle>" % (pmid, title, after)
    )


def outcome(content):
    """The records, and what the failure says if there was one."""
    got, failure = [], None
    try:
        collect(content, got)
    except NcbiUnreadable as error:
        failure = str(error)
    return got, failure


def collect(content, into):
    for found in parse(io.BytesIO(content)):
        into.append(found)

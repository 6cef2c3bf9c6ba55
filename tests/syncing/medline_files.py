"""Files as NLM publishes them, of records that a test makes up."""

import gzip

from tests.support.nlm_files import md5_file_of

RECORD = (
    '<PubmedArticle><MedlineCitation><PMID Version="{version}">{pmid}</PMID><Article><ArticleTitle>{title}'
    "</ArticleTitle><Abstract><AbstractText>{text}</AbstractText></Abstract></Article></MedlineCitation>"
    "</PubmedArticle>"
)


def record(pmid, text="It was treated. It got well.", version=1, title="Heart failure."):
    return RECORD.format(pmid=pmid, version=version, title=title, text=text)


def content(records, deleted=()):
    """A file of records, at whose end PMIDs are deleted."""
    pmids = "".join(f"<PMID>{pmid}</PMID>" for pmid in deleted)
    end = f"<DeleteCitation>{pmids}</DeleteCitation>" if deleted else ""
    return f"<PubmedArticleSet>{''.join(records)}{end}</PubmedArticleSet>".encode()


def write(folder, number, records, deleted=(), md5_of=None):
    """Write the file of this number, packed, with an `.md5` beside it: of other bytes where these are given."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"pubmed26n{number:04}.xml.gz"
    path.write_bytes(packed := gzip.compress(content(records, deleted), mtime=0))
    path.with_name(f"{path.name}.md5").write_text(md5_file_of(path.name, packed if md5_of is None else md5_of))
    return path

"""The search fields of PubMed that this server knows: tags, full names, and what in a record each looks at."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal

from tests.support.eutils_server.records import Record, normalised

_REST = (
    "Title|MedlineTA|ISOAbbreviation|LastName|CollectiveName|DescriptorName|QualifierName|Keyword|NameOfSubstance"
    "|PublicationType|BookTitle|VernacularTitle"
)
_LANGUAGES = {"english": "eng", "german": "ger", "french": "fre", "spanish": "spa", "japanese": "jpn", "chinese": "chi"}


@dataclass(frozen=True)
class Field:
    """A field by its full name, as query translations print it.

    `words`: a phrase found anywhere in the text matches. `values`: the whole value must match. `day`: dates and ranges;
    `reads` is then unused and `kind` names the date. `uid`: PMIDs. `filter`: a property of the record.
    """

    name: str
    how: Literal["words", "values", "day", "uid", "filter"]
    reads: Callable[[Record], list[str]] = lambda _record: []
    kind: str = ""


def _anything(record: Record) -> list[str]:
    own_ids = list(record.own_ids.values())
    linked = [f"has{kind.lower()}" for kind in re.findall(r'<CommentsCorrections RefType="(\w+)"', record.citation)]
    texts = [record.title, record.abstract, *record.authors, *record.elements(_REST)]
    return [*texts, str(record.pmid), *own_ids, *linked]


def _location_ids(record: Record) -> list[str]:
    """DOI, PII and their like; of a book its accession, which is a guess: NCBI does not document it."""
    return [*record.own_ids.values(), *re.findall(r'IdType="bookaccession">([^<]*)<', record.citation)]


ALL = Field("All Fields", "words", _anything)
FILTER = Field("Filter", "filter")
_FIELDS: dict[str, Field] = {
    "all all+fields": ALL,
    "ti title titl": Field("Title", "words", lambda record: [record.title]),
    "tiab title/abstract": Field("Title/Abstract", "words", lambda record: [record.title, record.abstract]),
    "tw word text+word text+words": Field("Text Word", "words", _anything),
    "ad affl affiliation": Field("Affiliation", "words", lambda record: record.elements("Affiliation")),
    "ot otrm other+term": Field("Other Term", "words", lambda record: record.elements("Keyword")),
    "au auth author": Field("Author", "values", lambda record: record.authors),
    "1au faut author+-+first": Field("Author - First", "values", lambda record: record.authors[:1]),
    "cn coln corporate+author": Field("Author - Corporate", "values", lambda r: r.elements("CollectiveName")),
    "ta jour journal": Field("Journal", "values", lambda r: r.elements("Title|MedlineTA|ISOAbbreviation|ISSN")),
    "la lang language": Field("Language", "values", lambda record: record.elements("Language")),
    "pt ptyp publication+type": Field("Publication Type", "values", lambda r: r.elements("PublicationType")),
    "mh mesh mesh+terms": Field("MeSH Terms", "values", lambda record: record.elements("DescriptorName")),
    "vi vol volume": Field("Volume", "values", lambda record: record.elements("Volume")),
    "ip iss issue": Field("Issue", "values", lambda record: record.elements("Issue")),
    "pg page pagination": Field("Pagination", "values", lambda record: record.elements("MedlinePgn")),
    "aid doi lid location+id": Field("Location ID", "values", _location_ids),
    "uid pmid": Field("UID", "uid"),
    "sb filter filt subset": FILTER,
    "crdt date+-+create": Field("Date - Create", "day", kind="crdt"),
    "edat date+-+entry entrez+date": Field("Date - Entry", "day", kind="edat"),
    "mhda date+-+mesh": Field("Date - MeSH", "day", kind="mhda"),
    "lr mdat date+-+modification": Field("Date - Modification", "day", kind="mdat"),
    "dcom cdat date+-+completion": Field("Date - Completion", "day", kind="cdat"),
    "dp pdat date+-+publication publication+date": Field("Date - Publication", "day", kind="pdat"),
}
_BY_TAG = {tag.replace("+", " "): field for tags, field in _FIELDS.items() for tag in tags.split()}


def field_of(tag: str) -> Field | None:
    """The field a tag names, in any case; None if there is none."""
    return _BY_TAG.get(tag.strip().lower())


@cache
def _language(word: str) -> str:
    return _LANGUAGES.get(word, word)


def matcher(field: Field, phrase: str) -> Callable[[Record], bool]:
    """Whether a record's field holds the phrase; `word*` matches beginnings of words."""
    sought = normalised(phrase)
    if phrase.endswith("*"):
        sought = sought[:-1]
    if field.name == "Language":
        sought = f" {_language(sought.strip())} "
    if field.how == "words":
        return lambda record: sought in words_of(record, field)
    if field.name.startswith("Author"):
        return lambda record: any(name.startswith(sought.rstrip()) for name in words_of(record, field).split("|"))
    return lambda record: sought in words_of(record, field).split("|")


def words_of(record: Record, field: Field) -> str:
    """The field's words, normalised once per record; a bar keeps phrases from running across values."""
    known: dict[str, str] = record.__dict__.setdefault("words", {})
    if field.name not in known:
        known[field.name] = "|".join(map(normalised, field.reads(record)))
    return known[field.name]


def filter_of(name: str) -> Callable[[Record], bool] | None:
    """A property by name: everything, those with an abstract, a publication type, a language, an indexing status."""
    word = normalised(name).strip()
    if word == "all":
        return lambda _record: True
    if word == "hasabstract":
        return lambda record: b"<AbstractText" in record.xml
    if word in ("medline", "in process", "publisher"):
        status = b'Status="%s"' % {"medline": "MEDLINE", "in process": "In-Process"}.get(word, "Publisher").encode()
        return lambda record: status in record.xml[:200]
    if word in _LANGUAGES:
        return matcher(_BY_TAG["la"], word)
    return None

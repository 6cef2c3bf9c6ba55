"""What a citation must say, read from the record's XML by other means than the product's parser."""

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from functools import lru_cache

from tests.literature.citing.goldens import raw_records


@dataclass
class Facts:
    people: list  # (surname or None, group or None)
    complete: bool
    years: set
    doi: str | None
    pages: str | None
    volume: str | None
    issue: str | None
    title: str
    book: bool
    retracted: bool


def text(element):
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


@lru_cache
def facts(pmid):
    record = ET.fromstring(raw_records()[pmid])
    book = record.tag == "PubmedBookArticle"
    place = record.find("BookDocument" if book else "MedlineCitation/Article")
    own = "PubmedBookData" if book else "PubmedData"
    lists = [each for each in place.findall("AuthorList") if each.get("Type") != "editors"]
    people = [person for each in lists for person in each.findall("Author") if person.get("ValidYN") != "N"]
    dois = [i.text for i in record.findall(f"{own}/ArticleIdList/ArticleId[@IdType='doi']")]
    printed = ("JournalIssue/PubDate", "ArticleDate", "ContributionDate", "Book/PubDate")
    dates = [text(part) for path in printed for part in record.iterfind(f".//{path}")]
    issue = record.find(".//JournalIssue")
    return Facts(
        people=[(text(p.find("LastName")), text(p.find("CollectiveName"))) for p in people],
        complete=all(each.get("CompleteYN") != "N" for each in lists),
        years={year for each in dates for year in re.findall(r"(?<!\d)[12]\d{3}", each)},
        doi=dois[0] if dois else None,
        pages=record.findtext(".//MedlinePgn"),
        volume=issue.findtext("Volume") if issue is not None else None,
        issue=issue.findtext("Issue") if issue is not None else None,
        title=text(place.find("ArticleTitle")) or text(place.find("VernacularTitle")),
        book=book,
        retracted=any(kind.text == "Retracted Publication" for kind in record.iter("PublicationType")),
    )

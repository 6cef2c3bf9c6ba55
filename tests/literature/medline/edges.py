"""What the name of each edge category promises, as a check of the article against the raw record."""

import re
from datetime import date

from tests.literature.medline.records import fold

ORCID = re.compile(r"\d{4}-\d{4}-\d{4}-\d{3}[\dX]")
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def promise(category):
    """check(article, xml) -> bool for the category; a category without a check is an error, not a pass."""
    for prefix, check in FAMILIES.items():
        if category.startswith(prefix):
            return lambda article, xml: check(article, xml, category.removeprefix(prefix))
    return SINGLES[category]


def all_text(xml, path):
    return ["".join(part.itertext()) for part in xml.iterfind(path)]


def edat_backdated(article, xml):
    return (date.fromisoformat(article.crdt[:10]) - date.fromisoformat(article.edat[:10])).days > 300


def empty_section(article, xml):
    raw = [part for part in xml.iterfind(".//Article/Abstract/AbstractText")]
    empty = [part.get("Label") for part in raw if not "".join(part.itertext()).strip()]
    stored = [section.label for section in article.abstract if not section.text]
    return bool(empty) and stored == [label for label in empty if label]


def markup(texts, elements, tags):
    """The tags are there in the XML, gone in the text, no letter is lost, and no script became a bare digit."""
    wanted = {"math" if tag == "mathml" else tag for tag in tags.split("_")}
    found = {part.tag.rpartition("}")[2] for element in elements for part in element.iter()}
    ours = " ".join(filter(None, texts))
    for part in (part for element in elements for tag in ("sup", "sub") for part in element.iter(tag)):
        assert part.text not in ("2", "3") or len(part) or has_small(ours, part)
    if "math" in found:
        same = letters(ours) == letters("".join("".join(e.itertext()) for e in elements))
    else:
        same = fold(ours) == fold("".join("".join(e.itertext()) for e in elements))
    return wanted <= found and same and "<sup" not in ours and "<sub" not in ours


def has_small(text, part):
    return ("²³" if part.tag == "sup" else "₂₃")[int(part.text) - 2] in text


def letters(text):
    return sorted(c for c in fold(text) if c.isascii() and c.isalnum())


def abstract_markup(article, xml, tags):
    return markup([s.text for s in article.abstract], xml.findall(".//Article/Abstract/AbstractText"), tags)


def title_markup(article, xml, tags):
    return markup([article.title], xml.findall(".//Article/ArticleTitle"), tags)


def correction(article, xml, kind):
    kind, without, _ = kind.partition("_noPMID")
    raw = [(c.get("RefType"), c.findtext("PMID"), c.findtext("RefSource")) for c in xml.iter("CommentsCorrections")]
    ours = [(c.kind, c.pmid, c.citation) for c in article.corrections]
    same = [(k, p, fold(s)) for k, p, s in ours] == [(k, p, fold(s)) for k, p, s in raw]
    gravest = {"RetractionIn": "retracted", "RetractionOf": "notice"}
    stands = article.retraction.value in (gravest.get(kind, article.retraction.value), "retracted")
    corrected = kind != "ErratumIn" or article.retraction.value not in ("clear", "unknown")
    return same and stands and corrected and any(k == kind and (p is None) == bool(without) for k, p, _ in ours)


def databank(article, xml, names):
    accessions = [a for bank in article.databanks for a in bank.accessions]
    return {bank.name for bank in article.databanks} == set(names.split("+")) and accessions == [
        text.strip() for text in all_text(xml, ".//AccessionNumber")
    ]


def left_out(article, xml, tag):
    """What we do not keep must not leak into what we keep."""
    texts = [text.strip() for text in all_text(xml, f".//{tag}") if len(text.strip()) > 12]
    stored = " ".join([article.title or "", *[s.text for s in article.abstract], *article.keywords])
    named = {name.get("UI") for name in xml.iter("SupplMeshName")}  # a disease may well stand in the title too
    leaked = any(heading.ui in named for heading in article.mesh) if named else any(text in stored for text in texts)
    return xml.find(f".//{tag}") is not None and not leaked


def own_id(article, xml, kind):
    own = {i.get("IdType"): i.text for i in xml.iterfind("./PubmedData/ArticleIdList/ArticleId")}
    pmcid = (article.pmcid or "").removeprefix("PMC")
    return kind in own and article.pmcid == own.get("pmc") and (not pmcid or pmcid.isdigit())


def indexing(article, xml, method):
    return xml.find("MedlineCitation").get("IndexingMethod", "Manual") == method and [h.ui for h in article.mesh] == [
        name.get("UI") for name in xml.iter("DescriptorName")
    ]


def language(article, xml, codes):
    return article.languages == tuple(codes.split("+"))


def medline_date(article, xml, form):
    found = article.publication_date
    text = xml.findtext(".//JournalIssue/PubDate/MedlineDate")
    first = next((n for n, name in enumerate(MONTHS, 1) if re.search(rf"^\d{{4}}(?:-\d{{4}})? {name}", text)), None)
    day = re.match(r"\d{4} [A-Z][a-z]{2} (\d{1,2})-", text)
    return (
        found.text == " ".join(text.split())
        and found.year == int(text[:4])
        and found.month == first
        and (found.day == int(day[1]) if day else found.day is None)
    )


def orcid(article, xml, form):
    raw = [i.text.strip() for i in xml.iterfind(".//Author/Identifier[@Source='ORCID']")]
    named = [i for i in raw if ("://" in i) == (form == "url")]
    ours = [a.orcid for a in article.authors if a.orcid]
    return bool(named) and all(map(ORCID.fullmatch, ours)) and len(ours) == len(raw)


def other_abstract(article, xml, codes):
    main = fold(" ".join(s.text for s in article.abstract))
    ours = [fold("".join(s.text for s in other.sections)) for other in article.other_abstracts]
    raw = [fold("".join(all_text(other, "AbstractText"))) for other in xml.iter("OtherAbstract")]
    languages = {other.language for other in article.other_abstracts}
    return ours == raw and languages == set(codes.split(",")) and all(text != main for text in ours)


def publication_type(article, xml, name):
    raw = [(kind.get("UI"), kind.text) for kind in xml.iter("PublicationType")]
    wanted = name.replace("_", " ")
    return [(k.ui, k.name) for k in article.publication_types] == raw and any(
        n.replace("_", " ") == wanted for _, n in raw
    )


def status(article, xml, name):
    return article.status == name


def title_empty(article, xml):
    vernacular = xml.findtext(".//VernacularTitle")
    return not "".join(all_text(xml, ".//ArticleTitle")).strip() and fold(article.title) == fold(vernacular)


def subject_is_no_author(article, xml):
    return len(article.authors) == len(xml.findall(".//Article/AuthorList/Author"))


def investigators(article, xml):
    raw = [i.findtext("LastName") for i in xml.iter("Investigator")]
    return bool(raw) and [i.last_name for i in article.investigators] == raw and subject_is_no_author(article, xml)


def doi_only_in_list(article, xml):
    return (
        xml.find(".//ELocationID[@EIdType='doi']") is None
        and article.doi == xml.findtext("./PubmedData/ArticleIdList/ArticleId[@IdType='doi']")
        and article.doi is not None
    )


def no_doi(article, xml):
    return article.doi is None and "doi.org" not in str(article.pii)


def references(article, xml):
    raw = [{i.get("IdType"): i.text for i in reference.iter("ArticleId")} for reference in xml.iter("Reference")]
    ours = [(r.pmid, r.doi) for r in article.references]
    own = article.pmid not in [pmid for pmid, _ in ours]
    return own and any(map(any, ours)) and [p for p, _ in ours] == [ids.get("pubmed") for ids in raw]


def month_numeric(article, xml):
    raw = xml.find(".//JournalIssue/PubDate")
    found = article.publication_date
    return found.month == int(raw.findtext("Month")) and MONTHS[found.month - 1] in found.text


def season(article, xml):
    text, found = xml.findtext(".//PubDate/Season"), article.publication_date
    starts = next((n for n, name in enumerate(MONTHS, 1) if text.startswith(name)), None)
    return found.text.endswith(text) and found.month == starts and found.day is None


FAMILIES = {
    "abstract_markup_": abstract_markup,
    "title_markup_": title_markup,
    "cc_": correction,
    "databank_": databank,
    "has_": left_out,
    "id_": own_id,
    "indexing_": indexing,
    "lang_": language,
    "medlinedate:": medline_date,
    "orcid_": orcid,
    "other_abstract_": other_abstract,
    "pt_": publication_type,
    "status_": status,
}
SINGLES = {
    "EDAT_after_CRDT": lambda a, _: a.edat > a.crdt,
    "EDAT_backdated_more_than_300d": edat_backdated,
    "abstract_UNASSIGNED_category": lambda a, _: any(
        s.category == "UNASSIGNED" or s.label == "UNLABELLED" for s in a.abstract
    ),
    "abstract_empty_section": empty_section,
    "abstract_label_without_NlmCategory": lambda a, _: any(s.label and s.category is None for s in a.abstract),
    "abstract_structured": lambda a, _: len([s for s in a.abstract if s.label]) > 1,
    "abstract_truncated": lambda a, _: "ABSTRACT TRUNCATED" in a.abstract[-1].text,
    "author_lastname_only": lambda a, _: any(p.last_name and not p.fore_name for p in a.authors),
    "author_multi_affiliation": lambda a, _: any(len(p.affiliations) > 1 for p in a.authors),
    "author_suffix": lambda a, _: any(p.suffix for p in a.authors),
    "authors_100plus": lambda a, x: len(a.authors) >= 100 and subject_is_no_author(a, x),
    "authors_incomplete": lambda a, _: not a.authors_complete,
    "collective_author": lambda a, _: any(p.collective_name and not p.last_name for p in a.authors),
    "collective_author_only": lambda a, _: a.authors and all(p.collective_name for p in a.authors),
    "doi_only_in_articleid": doi_only_in_list,
    "equal_contrib": lambda a, _: any(p.equal_contribution for p in a.authors),
    "investigators": investigators,
    "no_abstract": lambda a, _: a.abstract == () and a.copyright is None,
    "no_authors": lambda a, _: a.authors == (),
    "no_doi": no_doi,
    "personal_name_subject": subject_is_no_author,
    "pubdate_month_numeric": month_numeric,
    "pubdate_year_only": lambda a, x: a.publication_date.iso == x.findtext(".//JournalIssue/PubDate/Year"),
    "references_with_ids": references,
    "season": season,
    "title_bracketed_translated": lambda a, _: a.title.startswith("["),
    "title_empty": title_empty,
    "vernacular_title": lambda a, x: fold(a.vernacular_title) == fold("".join(all_text(x, ".//VernacularTitle"))),
    "version_gt_1": lambda a, _: a.pmid_version > 1,
}

"""Indexing of a citation by NLM and publishers: types, MeSH, chemicals, keywords, grants, databanks."""

from functools import lru_cache

from lxml import etree

from bio_mcp.literature.medline.markup import leaf, plain, tidy
from bio_mcp.literature.records import Chemical, Databank, Grant, MeshHeading, MeshQualifier, PublicationType


def publication_types(element: etree._Element) -> tuple[PublicationType, ...]:
    """PublicationTypeList, with the MeSH UI of each type."""
    return tuple([_publication_type(child.get("UI", ""), child.text or "") for child in element])


def publication_type(element: etree._Element) -> PublicationType:
    """One PublicationType; a BookDocument has it without a list."""
    return _publication_type(element.get("UI", ""), element.text or "")


def mesh_headings(element: etree._Element) -> tuple[MeshHeading, ...]:
    """MeshHeadingList in the record's order."""
    return tuple([heading for heading in map(mesh_heading, element) if heading])


def chemicals(element: etree._Element) -> tuple[Chemical, ...]:
    """ChemicalList; the registry number is "0" where a substance has none."""
    return tuple(map(chemical, element))


def keywords(element: etree._Element) -> list[str]:
    """One KeywordList, without empty keywords."""
    return [word for word in map(plain, element) if word]


def grants(element: etree._Element) -> tuple[Grant, ...]:
    """GrantList. `&amp;`, which some records escape twice, is unescaped once more."""
    return tuple(map(grant, element))


def databanks(element: etree._Element) -> tuple[Databank, ...]:
    """DataBankList with the accession numbers of each bank."""
    return tuple(map(_databank, element))


@lru_cache(maxsize=1024)
def _publication_type(ui: str, name: str) -> PublicationType:
    return PublicationType(ui, tidy(name))


@lru_cache(maxsize=8192)
def qualifier(ui: str, name: str, major: bool) -> MeshQualifier:
    """One qualifier of a heading."""
    return MeshQualifier(ui, tidy(name), major)


def mesh_heading(element: etree._Element) -> MeshHeading | None:
    """One heading with its qualifiers; None for an element without a descriptor."""
    heading = None
    qualifiers: list[MeshQualifier] = []
    for child in element:
        ui, name, major = child.get("UI", ""), child.text or "", child.get("MajorTopicYN") == "Y"
        if child.tag == "DescriptorName":
            heading = MeshHeading(ui, tidy(name), major)
        elif child.tag == "QualifierName":
            qualifiers.append(qualifier(ui, name, major))
    if heading and qualifiers:
        heading.qualifiers = tuple(qualifiers)
    return heading


def chemical(element: etree._Element) -> Chemical:
    """One Chemical."""
    ui = name = number = ""
    for child in element:
        if child.tag == "RegistryNumber":
            number = leaf(child) or ""
        elif child.tag == "NameOfSubstance":
            ui, name = child.get("UI", ""), leaf(child) or ""
    return Chemical(ui, name, number)


def grant(element: etree._Element) -> Grant:
    """One Grant."""
    parts = {child.tag: leaf(child) for child in element}
    return funding(parts.get("GrantID"), parts.get("Acronym"), parts.get("Agency"), parts.get("Country"))


def funding(number: str | None, acronym: str | None, agency: str | None, country: str | None) -> Grant:
    """A Grant from its texts; None stands for an empty one."""
    number, agency = (text and text.replace("&amp;", "&") for text in (number, agency))
    return Grant(number or None, acronym or None, agency or None, country or None)


def _databank(element: etree._Element) -> Databank:
    name = ""
    accessions: list[str] = []
    for child in element:
        if child.tag == "DataBankName":
            name = leaf(child) or ""
        elif child.tag == "AccessionNumberList":
            accessions.extend(filter(None, map(leaf, child)))
    return Databank(name, tuple(accessions))

"""Names that the sections of papers have in English, German, French, Spanish and Thai."""

import re


def _any_of(names: str) -> re.Pattern[str]:
    return re.compile("|".join(name.strip() for name in names.split(";")), re.IGNORECASE)


_MAIN = _any_of("""
introduction; background; aims?; objectives?; methods?; results?; findings; discussion; conclusions?; description;
(subjects|patients|participants|materials?|animals)( and|,| &) methods; methods? and materials?; methodology;
experimental( section| procedures)?; results? and discussion; discussion and conclusions?; reagents;
(summary and |concluding )?conclusions?( and .{3,40})?; concluding remarks;
einleitung; einführung; hintergrund; (material|patienten) und methoden?; methodik; methoden?; diskussion; fazit;
ergebnisse( und diskussion)?; schlussfolgerung(en)?;
(matériels? et )?méthodes?; résultats; introducción; (material(es)? y )?métodos?; resultados; discusión; conclusiones;
บทนำ; วัตถุประสงค์; วิธี(การ|ดำเนินการ)?(วิจัย|ศึกษา|ทดลอง)?; วัสดุและวิธีการ; ผล(การ)?(วิจัย|ศึกษา|ทดลอง);
อภิปราย(ผล)?; วิจารณ์; สรุป(ผล)?
""")
_REFERENCES = _any_of("""
references( and notes)?; reference list; bibliography; literature( cited)?; works cited;
literatur(verzeichnis)?; quellen(verzeichnis)?; références( bibliographiques)?; bibliographie;
referencias( bibliográficas)?; bibliografía; เอกสารอ้างอิง; บรรณานุกรม
""")
_CONTENTS = _any_of("(table of )?contents; inhalt(sverzeichnis)?; sommaire; table des matières; índice; สารบัญ")
_ABSTRACT = _any_of("(structured )?abstract; summary; zusammenfassung; kurzfassung; résumé; resumen; บทคัดย่อ")
_BACK = _any_of("""
acknowled?ge?ments?; funding( information| sources?| statement)?; financial support; disclosures?; orcid( ids?)?;
(declaration of )?(competing|conflicting)( financial)? interests?;
(declaration of )?conflicts? of interests?( .{4,20})?;
authors?[’']?s?[’']? contributions?; authors?[’']?s?[’']? (details|information);
credit authorship contribution statement; data( and code)? availability( statement)?; availability of data.{0,40};
supplement(ary|al) (materials?|information|data|files?); supporting information; additional (files?|information);
ethics.{0,40}; ethical approval; abbreviations; consent for publication; footnotes; endnotes;
appendi(x|ces)( [a-z0-9]{1,2})?; danksagung; interessenkonflikte?; anhang; remerciements; annexes?; agradecimientos;
anexos?; กิตติกรรมประกาศ; ภาคผนวก
""")
_NUMBER = re.compile(
    r"(?:\d{1,2}(?:\.\d{1,2}){0,4}|[IVX]{1,5}|[A-Z])[.)]?\s+(?=\S)|\d{1,2}(?:\.\d{1,2}){1,4}\.?(?=[^\W\d_])"
)
_SPACED = re.compile(r"(?:\w ){3,}\w")


def bare(heading: str) -> str:
    """The heading's words alone: no number before, no punctuation after, no spaces between its letters."""
    text = heading.replace(" ", "") if _SPACED.fullmatch(heading) else heading
    return _NUMBER.sub("", text, count=1).strip(" .:–—-|■●")


def is_main(heading: str) -> bool:
    """Whether it names a section that papers have at their top level."""
    return bool(_MAIN.fullmatch(bare(heading)))


def is_references(heading: str) -> bool:
    """Whether it names the list of references."""
    return bool(_REFERENCES.fullmatch(bare(heading)))


def is_contents(heading: str) -> bool:
    """Whether it names the table of contents."""
    return bool(_CONTENTS.fullmatch(bare(heading)))


def is_abstract(heading: str) -> bool:
    """Whether it names the abstract."""
    return bool(_ABSTRACT.fullmatch(bare(heading)))


def is_after_text(heading: str) -> bool:
    """Whether it names what follows a paper's text, other than the references."""
    return bool(_BACK.fullmatch(bare(heading)))


def is_top(heading: str) -> bool:
    """Whether sections of this name stand at the top level: main ones, and what comes before and after them."""
    return any(each(heading) for each in (is_main, is_references, is_abstract, is_after_text))


def depth(heading: str) -> int | None:
    """How deep its number says that it is, from 1; None without a number."""
    found = re.match(r"(\d{1,2}(?:\.\d{1,2}){0,4})[.)]?\s*(?=[^\W\d_])|([IVX]{1,5}|[A-H])[.)]\s+(?=\S)", heading)
    if not found:
        return None
    return found[1].count(".") + 1 if found[1] else (2 if found[2] in "ABCDEFGH" else 1)

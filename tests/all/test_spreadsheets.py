"""Exports as LibreOffice reads them: no cell of one is a formula, whichever separator its user has set.

It needs LibreOffice Calc: `make libreoffice` installs it on Debian.
"""

import subprocess
from itertools import product

import pytest
from lxml import etree

from bio_mcp.exporting.formats import FORMATS
from bio_mcp.exporting.selecting import Record
from bio_mcp.literature.records import Article
from tests.exporting.spreadsheets import HOSTILE, SEPARATORS, hostile

TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
BOTH = ",;"


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """The rows of a text as LibreOffice reads it by these separators: of each cell its formula, if any, and text."""
    home = tmp_path_factory.mktemp("libreoffice")

    def read(name, text, separators):
        path = home / f"{name}.csv"
        path.write_text(text, encoding="utf-8", newline="")
        # separators / quote, UTF-8, from line 1, no formats, any language, quoted text is converted as other text is,
        # numbers are found, formulas are evaluated
        by = f"CSV:{'/'.join(str(ord(each)) for each in separators)},34,76,1,,0,false,true,false,false,false,-1,true"
        command = ["soffice", f"-env:UserInstallation={home.as_uri()}/profile", "--headless", f"--infilter={by}"]
        done = subprocess.run(
            [*command, "--convert-to", "fods", "--outdir", home, path],
            capture_output=True,
            text=True,
            check=False,
            timeout=180,
        )
        assert done.returncode == 0, done.stderr
        return [list(cells(row)) for row in etree.parse(home / f"{name}.fods").iter(f"{TABLE}table-row")]

    return read


def cells(row):
    for each in row.iter(f"{TABLE}table-cell"):
        cell = each.get(f"{TABLE}formula"), "".join(each.itertext()).strip()
        yield from [cell] * min(int(each.get(f"{TABLE}number-columns-repeated", 1)), 100)


def formulas(rows):
    return [formula for row in rows for formula, _ in row if formula]


def test_a_formula_is_one_where_nothing_stops_it(opened):
    assert len(formulas(opened("control", 'a,=1+1,"x;=2+2;y"\r\n', ","))) == 1
    assert len(formulas(opened("behind", "a;x;=2+2;y\r\n", ";"))) == 1
    assert len(formulas(opened("quoted", '1,2,"x;=2+2;y"\r\n', ";"))) == 1


@pytest.mark.parametrize("separators", [*SEPARATORS, BOTH], ids=["comma", "semicolon", "tab", "bar", "both"])
def test_no_cell_of_an_export_is_a_formula(opened, separators):
    form = FORMATS["csv"]
    papers = [hostile(f"{before}{text}") for before, text in product(("", "x;", 'x; "', "x\t", "x|"), HOSTILE)]
    text = form.head + "".join(form.render(Record(each)) for each in papers)
    rows = opened(f"export{ord(separators[0])}{len(separators)}", text, separators)
    assert formulas(rows) == []
    assert len([row for row in rows if any(shown for _, shown in row)]) >= len(papers)


def test_a_row_has_its_columns_by_a_comma_and_by_both_separators(opened):
    form = FORMATS["csv"]
    text = form.head + form.render(Record(Article("1", title='A; "B", C | D')))
    for name, separators in (("comma", ","), ("both", BOTH)):
        [head, row] = opened(f"columns-{name}", text, separators)[:2]
        shown = dict(zip([each for _, each in head], [each for _, each in row], strict=False))
        assert (shown["pmid"], shown["title"]) == ("1", 'A; "B", C | D')

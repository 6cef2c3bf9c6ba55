from bio_mcp.literature.layout.tables import without_tables
from tests.literature.layout.pages import SIZE, block, line, page, prose

ROWS = [("Drug", "Dose", "Patients"), ("Metformin", "500 mg", "120"), ("Placebo", "", "118")]


def table(x=50.0, y=100.0, step=100.0, size=8.0, rows=ROWS):
    cells = [(text, x + at * step, y + down * 10) for down, row in enumerate(rows) for at, text in enumerate(row)]
    return [line(text, left, down, size) for text, left, down in cells if text]


def found(*parts):
    left, tables = without_tables(page(*parts), SIZE)
    return [each.text for each in left.lines], list(tables.values())


CAPTION = line("Table 1. Doses of the trial", y=85, size=8)


def test_rows_become_lines_with_cells_parted_by_tabs():
    _, tables = found(CAPTION, table(), block(prose(6), y=180))
    assert tables == ["Table 1. Doses of the trial\nDrug\tDose\tPatients\nMetformin\t500 mg\t120\nPlacebo\t\t118"]


def test_one_line_is_left_in_its_place():
    left, _ = found(CAPTION, table(), block(prose(6), y=180))
    assert left == ["Table 1. Doses of the trial", *(each.text for each in block(prose(6)))]


def test_a_cell_that_goes_on_in_the_next_row_is_joined():
    rows = [*ROWS, ("Insulin", "as the doctor", "9"), ("", "told them", "")]
    _, tables = found(CAPTION, table(rows=rows))
    assert tables[0].endswith("Insulin\tas the doctor told them\t9")


def test_a_table_in_one_column_leaves_the_text_beside_it():
    caption = line("Table 1. Doses", x=320, y=85, size=8)
    beside = block(prose(20), y=76)
    left, tables = found(beside, caption, table(x=320, step=80), block(prose(8), x=320, y=200))
    assert tables == ["Table 1. Doses\nDrug\tDose\tPatients\nMetformin\t500 mg\t120\nPlacebo\t\t118"]
    assert {each.text for each in beside} <= set(left)


def test_a_table_across_two_columns_ends_where_their_text_begins():
    columns = [*block(prose(12, "left"), y=160), *block(prose(12, "right"), x=320, y=160)]
    left, tables = found(CAPTION, table(step=200), columns)
    assert tables[0].endswith("Placebo\t\t118")
    assert {each.text for each in columns} <= set(left)


def test_a_table_may_stand_above_its_caption():
    caption = line("Table 1. Doses of the trial", y=134, size=8)
    left, tables = found(block(prose(4), y=40), table(), caption, block(prose(6), y=180))
    assert tables == ["Table 1. Doses of the trial\nDrug\tDose\tPatients\nMetformin\t500 mg\t120\nPlacebo\t\t118"]
    assert len(left) == 11


def test_a_line_of_text_that_begins_with_a_tables_name_is_text():
    text = block("Table 1 shows the doses that were given\n" + prose(6))
    assert found(text) == ([each.text for each in text], [])


def test_a_caption_of_several_lines_is_one():
    caption = block("Table 1. Doses of the trial in pa-\ntients of all ages", y=75, size=8)
    _, tables = found(caption, table())
    assert tables[0].startswith("Table 1. Doses of the trial in patients of all ages\nDrug\t")

"""The search language, each rule against the records themselves."""

import pytest

from tests.support.eutils_server.query import Search, SearchBackendFailed


def pmids(sample, term):
    return Search(sample).run(term).pmids


def having(sample, test):
    return {record.pmid for record in sample.visible.values() if test(record)}


def in_title(word):
    return lambda record: word in record.title.lower().replace("-", " ").replace(":", " ").replace(".", " ").split()


def test_operators_bind_left_to_right(sample):
    a, b, c = (pmids(sample, f"{word}[ti]") for word in ("cancer", "patients", "study"))
    assert pmids(sample, "cancer[ti] OR patients[ti] AND study[ti]") == (a | b) & c
    assert pmids(sample, "cancer[ti] OR (patients[ti] AND study[ti])") == a | (b & c)
    assert pmids(sample, "cancer[ti] NOT study[ti]") == a - c
    assert a
    assert b
    assert c


def test_adjacent_words_must_all_be_there(sample):
    assert pmids(sample, "cancer patients") == pmids(sample, "cancer AND patients") != pmids(sample, "cancer")


def test_and_not_finds_nothing(sample):
    assert pmids(sample, "cancer AND NOT mice") == frozenset()


def test_a_title_word_is_a_whole_word_of_the_title(sample):
    assert pmids(sample, "cancer[ti]") >= having(sample, in_title("cancer"))
    assert all("cancer" in sample.visible[pmid].title.lower() for pmid in pmids(sample, "cancer[Title]"))


def test_a_quoted_phrase_stands_in_that_order(sample):
    found = pmids(sample, '"breast cancer"[tiab]')
    assert found
    assert found < pmids(sample, "breast[tiab] AND cancer[tiab]")


def test_an_asterisk_matches_beginnings(sample):
    assert pmids(sample, "immun*[ti]") > pmids(sample, "immune[ti]")


@pytest.mark.parametrize("kind", ["crdt", "edat", "mhda", "lr", "dp"])
def test_a_range_is_inclusive_by_day(sample, kind):
    name = {"lr": "mdat", "dp": "pdat"}.get(kind, kind)
    wanted = having(sample, lambda r: any("2021/05/15" <= day <= "2021/06/07" for day in r.dates.get(name, ())))
    assert pmids(sample, f'("2021/05/15"[{kind}] : "2021/06/07"[{kind}])') == wanted
    assert wanted


def test_the_create_date_is_not_the_entry_date(sample):
    late = having(sample, lambda r: r.dates.get("crdt", ("",))[0][:4] > r.dates.get("edat", ("9",))[0][:4])
    assert late
    entered = pmids(sample, "2021[edat] : 3000[edat]")
    assert late & pmids(sample, "2021[crdt] : 3000[crdt]") - entered


def test_year_and_month_alone_cover_their_days(sample):
    assert pmids(sample, "2021/06[crdt]") == pmids(sample, "2021/06/01:2021/06/30[crdt]")
    assert pmids(sample, "2021:2021[crdt]") == pmids(sample, "2021[crdt]")


def test_a_pmid_or_a_range_of_them_is_found(sample):
    some = sorted(sample.visible)[:3]
    assert pmids(sample, f"{some[0]}[uid]") == pmids(sample, f"{some[0]}[pmid]") == {some[0]}
    assert pmids(sample, f"{some[0]}:{some[2]}[uid]") == set(some)
    assert pmids(sample, "1[uid]") == frozenset()


def test_everything_and_what_has_an_abstract(sample):
    assert pmids(sample, "all[sb]") == pmids(sample, "all[filter]") == sample.visible.keys()
    assert pmids(sample, "hasabstract") == having(sample, lambda r: b"<AbstractText" in r.xml)


def test_language_journal_and_publication_type_are_whole_values(sample):
    assert (
        pmids(sample, "eng[la]")
        == pmids(sample, "English[Language]")
        == having(sample, lambda r: "eng" in r.elements("Language"))
    )
    assert pmids(sample, "review[pt]") == having(sample, lambda r: "Review" in r.elements("PublicationType"))
    journal = next(iter(sample.visible.values())).elements("MedlineTA")[0]
    assert pmids(sample, f'"{journal}"[ta]') == having(sample, lambda r: journal in r.elements("MedlineTA"))


@pytest.mark.parametrize("term", ['"Retracted Publication"[pt]', "HasRetractionIn", "hasretractionin[all]"])
def test_a_word_of_pubmeds_own_is_known_though_no_record_has_it(sample, term):
    sample.withdraw(having(sample, lambda record: "etract" in record.citation))
    search = Search(sample)
    assert search.run(f"{term} AND study[ti]").pmids == frozenset()
    assert search.notes.phrases_not_found == []


def test_an_unknown_word_is_dropped_and_the_rest_counts(sample):
    search = Search(sample)
    assert search.run("cancer p.E1317Qx").pmids == pmids(sample, "cancer")
    assert search.notes.phrases_not_found == ["p.E1317Qx"]


def test_an_unknown_field_is_named_and_searched_everywhere(sample):
    search = Search(sample)
    assert search.run("cancer[xyz]").pmids == pmids(sample, "cancer")
    assert search.notes.fields_not_found == ["xyz"]


def test_a_phrase_nobody_wrote_is_searched_word_by_word(sample):
    search = Search(sample)
    assert search.run('"patients cancer study"[tiab]').pmids == pmids(sample, "patients[tiab] cancer[tiab] study[tiab]")
    assert search.notes.quoted_not_found == ['"patients cancer study"']


def test_a_date_without_records_is_no_unknown_word(sample):
    search = Search(sample)
    assert search.run("cancer AND 1850/01/01[crdt]").pmids == frozenset()
    assert search.notes.phrases_not_found == []


@pytest.mark.parametrize("term", ["((", "(cancer", "cancer)", "()", "cancer AND", "cancer OR )"])
def test_brackets_must_match_and_operators_need_terms(sample, term):
    with pytest.raises(SearchBackendFailed):
        Search(sample).run(term)


def test_the_translation_shows_what_was_searched(sample):
    found = Search(sample).run('(cancer[tiab] OR zzqq) AND ("2021/06/01"[crdt] : "3000"[crdt])')
    assert found.translation == '("cancer"[Title/Abstract]) AND (2021/06/01:3000[Date - Create])'

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

from bio_mcp.ports.stores import ReviewMerge, ReviewPlan, ReviewRecord, ReviewSearch, ScreeningLabel

R, OTHER = "project:lab/heart", "query:lab/heart"
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
LONG_ID = "doi:10.1000/" + "x" * 500 + "ü" * 300  # more bytes than a key of DynamoDB


def record(record_id, title="Thiazides lower α₁ blood pressure."):
    return ReviewRecord(record_id, title)


def label(record_id, decision="include", stage="abstract", minutes=0, **more):
    return ScreeningLabel(record_id, stage, decision, NOON + timedelta(minutes=minutes), **more)


def search(search_id, minutes=0, **more):
    return ReviewSearch(search_id, NOON + timedelta(minutes=minutes), "PubMed", "thiazides[ti]", 3, ("1", "2"), **more)


FULL = ReviewRecord("doi:10.1000/x'y\"z", "Tïtle", "An abstract.\nTwo lines.", 2020, "10.1000/x'y\"z")


def test_a_record_comes_back_equal_and_records_are_in_the_order_of_their_ids(screenings):
    screenings.put(R, [record("9"), FULL, record("10"), record(LONG_ID)])
    assert screenings.records(R) == [record("10"), record("9"), FULL, record(LONG_ID)]


def test_more_records_than_one_write_takes_are_all_stored_and_one_that_is_put_again_replaces(screenings):
    many = [record(f"{number:03}") for number in range(120)]
    screenings.put(R, many)
    screenings.put(R, [record("000", "Another title")])
    assert screenings.records(R) == [record("000", "Another title"), *many[1:]]


def test_labels_come_in_the_order_in_which_they_were_stored_whatever_the_clock_said(screenings):
    labels = [
        label("1", minutes=99),
        label("3", "exclude", "full_text"),
        label(LONG_ID, "maybe", minutes=1),
        label("2", minutes=-1),
        label("3", "exclude", reason="no humans", caller="Ann"),
    ]
    screenings.put(R, labels[:3])
    screenings.put(R, labels[3:])
    assert screenings.labels(R) == labels
    screenings.put(R, [label("1", "maybe", minutes=-99)])
    assert screenings.labels(R) == [*labels[1:], label("1", "maybe", minutes=-99)]


def test_a_label_replaces_its_records_other_one_of_the_stage_alone(screenings):
    elsewhere = replace(label("1"), at=NOON.astimezone(timezone(timedelta(hours=7))))
    screenings.put(R, [elsewhere, label("1", stage="full_text")])
    assert screenings.labels(R) == [label("1"), label("1", stage="full_text")]
    screenings.put(R, [label("1", "exclude", minutes=1)])
    assert screenings.labels(R) == [label("1", stage="full_text"), label("1", "exclude", minutes=1)]


def test_each_screener_has_a_label_of_a_record_and_stage_and_a_third_decision_is_another(screenings):
    given = [
        label("1", caller="ann"),
        label("1", "exclude", caller="bob"),
        label(LONG_ID, "exclude", caller="by ann"),
        label("1", "maybe"),
        label("1", "exclude", caller="ann", resolves=True),
    ]
    screenings.put(R, given)
    assert screenings.labels(R) == given
    screenings.put(R, [label("1", "maybe", caller="ann")])
    assert screenings.labels(R) == [*given[1:], label("1", "maybe", caller="ann")]


def test_labels_are_taken_back_one_by_one_and_those_that_are_gone_change_nothing(screenings):
    given = [label("1"), label("1", caller="ann"), label("1", stage="full_text"), label(LONG_ID, caller="ann")]
    screenings.put(R, given)
    screenings.remove_labels(R, [given[1], given[3], label("unknown")])
    screenings.remove_labels(R, [given[1]])
    screenings.remove_labels(R, [])
    assert screenings.labels(R) == [given[0], given[2]]


def test_a_plan_is_stored_and_the_reviews_that_have_one_are_listed(screenings):
    assert (screenings.plan(R), screenings.reviews()) == (None, {})
    screenings.put_plan(R, ReviewPlan(NOON, 1))
    plan = ReviewPlan(NOON, 2, "adults with α₁")
    screenings.put_plan(R, plan)
    screenings.put_plan("another", ReviewPlan(NOON))
    assert (screenings.plan(R), list(screenings.reviews())) == (plan, ["another", R])
    screenings.drop(R)
    assert (screenings.plan(R), screenings.reviews()) == (None, {"another": ReviewPlan(NOON)})


def test_a_merge_keeps_the_entry_whole_and_is_deleted_alone(screenings):
    entry = replace(
        FULL, authors=("Doe, J", "Roe R"), journal="Lancet", pages="1-9", keywords=("a", "b"), preprint=True
    )
    merges = [ReviewMerge(f"s:{at}", entry, "1", "the same DOI", "s", at) for at in (1, 2)]
    screenings.put(R, [*merges, entry])
    assert (screenings.merges(R), screenings.records(R)) == (merges, [entry])
    screenings.remove_merge(R, "s:1")
    screenings.remove_merge(R, "s:1")
    assert screenings.merges(R) == merges[1:]
    screenings.drop(R)
    assert screenings.merges(R) == []


def test_searches_come_in_the_order_in_which_they_were_stored_and_an_equal_one_is_stored_once(screenings):
    many = search("c", 2, method="other")
    many = replace(many, term=None, record_ids=tuple(map(str, range(20_000_000, 20_010_000))))
    for each in (many, search("b"), search("a"), search("b"), search("d", 3)):
        screenings.put(R, [each])
    last = replace(search("d", -1), found=5, record_ids=("1", "1", "2"), source="topic:heart")
    screenings.put(R, [last])
    assert screenings.searches(R) == [many, search("a"), search("b"), last]


def test_reviews_share_nothing_and_one_that_is_dropped_leaves_the_other(screenings):
    for review in (R, OTHER):
        screenings.put(review, [record("1")])
        screenings.put(review, [label("1")])
        screenings.put(review, [search("a")])
    screenings.put(f"{R}2", [record("2")])
    screenings.drop(R)
    screenings.drop("unknown")
    assert (screenings.records(R), screenings.labels(R), screenings.searches(R)) == ([], [], [])
    assert (len(screenings.records(OTHER)), len(screenings.labels(OTHER)), len(screenings.searches(OTHER))) == (1, 1, 1)
    assert [each.record_id for each in screenings.records(f"{R}2")] == ["2"]

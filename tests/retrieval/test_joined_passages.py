from bio_mcp.retrieval.quotes import Passage, joined, runs

TEXT = "One sentence. Two sentences. Three sentences.\n\nA new section. Its end."


def cut(*bounds):
    return [Passage(TEXT[start:end], start, section=str(start)) for start, end in bounds]


def test_what_neighbours_repeat_stands_there_once():
    whole = joined(cut((0, 28), (14, 45), (47, 71)))
    assert whole.text == TEXT
    assert [whole.offset(at) for at in (0, 20, 45, 70)] == [0, 20, 45, 70]
    assert whole.end_offset(len(TEXT)) == len(TEXT)


def test_what_stands_between_is_a_space_or_a_new_paragraph():
    whole = joined(cut((14, 28), (29, 45), (62, 70)))
    assert whole.text == "Two sentences. Three sentences.\n\nIts end."
    assert (whole.offset(0), whole.offset(15), whole.end_offset(len(whole.text))) == (14, 29, 70)


def test_a_passage_within_another_adds_nothing():
    assert joined(cut((0, 45), (14, 28), (29, 45), (47, 61))).text == TEXT[:61]


def test_the_passages_of_a_part_are_those_that_it_is_from():
    whole = joined(cut((0, 28), (14, 45), (47, 71)))
    assert [each.section for each in whole.between(0, 5)] == ["0"]
    assert [each.section for each in whole.between(20, 40)] == ["0", "14"]
    assert [each.section for each in whole.between(40, 60)] == ["14", "47"]


def test_passages_of_unknown_place_are_joined_without_offsets():
    whole = joined([Passage("First."), Passage("Second.")])
    assert whole.text == "First.\n\nSecond."
    assert whole.offset(0) is whole.end_offset(6) is None


def test_runs_are_of_neighbours_and_reach_around_each():
    passages = cut(*((n, n + 1) for n in range(10)))
    assert [[each.start for each in run] for run in runs(passages, {0, 2, 7}, 1)] == [[0, 1, 2, 3], [6, 7, 8]]
    assert [[each.start for each in run] for run in runs(passages, {9}, 0)] == [[9]]
    assert list(runs(passages, set(), 1)) == []

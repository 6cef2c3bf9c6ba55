"""What was given up is listed, sent again and deleted, and nothing of it is lost or done by halves."""

import json

EVENT = {"tool": "pubmed.sync_delta", "arguments": {"query_key": "β-cells", "term": '"a"[tiab]'}}
OTHER = {"tool": "exportPapers", "arguments": {"job_id": "1"}}


def bodies(letters):
    return [json.loads(each.body) for each in letters]


def test_what_was_given_up_is_listed_with_its_call_and_queue_as_often_as_one_looks(ports, dead_letters):
    assert dead_letters.all() == []
    ports.give_up(EVENT)
    for _ in range(2):
        [letter] = dead_letters.all()
        assert (json.loads(letter.body), letter.queue) == (EVENT, "work")
        assert letter.origin
        assert letter.reason
    assert dead_letters.held_elsewhere() == 0


def test_a_letter_that_is_sent_again_is_received_once_and_is_no_letter_any_more(ports, dead_letters, continuations):
    ports.give_up(EVENT)
    ports.give_up(OTHER)
    [letter] = [each for each in dead_letters.all() if json.loads(each.body) == EVENT]
    assert dead_letters.redrive([letter.letter_id]) == [letter.letter_id]
    assert bodies(dead_letters.all()) == [OTHER]
    assert continuations.receive(60)[1] == EVENT
    assert continuations.receive(60) is None
    assert dead_letters.redrive([letter.letter_id]) == []


def test_a_letter_that_is_deleted_is_gone_and_the_others_stay(ports, dead_letters, continuations):
    ports.give_up(EVENT)
    ports.give_up(OTHER)
    [letter] = [each for each in dead_letters.all() if json.loads(each.body) == OTHER]
    for expected in ([letter.letter_id], []):
        assert dead_letters.delete([letter.letter_id, "999999"]) == expected
    assert bodies(dead_letters.all()) == [EVENT]
    assert continuations.receive(60) is None


def test_more_letters_than_one_answer_has_are_all_there(ports, dead_letters):
    events = [{"tool": "rag.search", "arguments": {"query": str(number)}} for number in range(23)]
    for each in events:
        ports.give_up(each)
    letters = dead_letters.all()
    assert sorted(bodies(letters), key=str) == sorted(events, key=str)
    assert len(dead_letters.redrive([each.letter_id for each in letters])) == len(events)
    assert dead_letters.all() == []

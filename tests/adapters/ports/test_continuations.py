import pytest

EVENT = {"tool": "pubmed.sync_delta", "arguments": {"query": "β-cells", "resume": True}}


def test_an_event_arrives_and_not_again_once_it_is_acknowledged(continuations):
    continuations.send(EVENT)
    receipt, event = continuations.receive(60)
    assert event == EVENT
    assert continuations.receive(60) is None
    continuations.ack(receipt)
    continuations.ack(receipt)
    assert continuations.receive(60) is None


@pytest.mark.parametrize("delay_s", [20, 2_000])
def test_an_event_that_is_not_due_waits(continuations, delay_s):
    continuations.send(EVENT, delay_s=delay_s)
    assert continuations.receive(60) is None


def test_an_equal_event_is_taken_while_one_is_being_handled(continuations):
    continuations.send(EVENT)
    continuations.receive(60)
    continuations.send(EVENT)
    assert continuations.receive(60)[1] == EVENT


def test_a_failed_event_is_tried_again_and_buried_after_the_last_attempt(continuations, clock, ports):
    continuations.send(EVENT)
    for attempt in range(3):
        receipt, event = continuations.receive(60)
        assert event == EVENT
        continuations.fail(receipt, f"reason {attempt}")
        clock.now += 100
    assert continuations.receive(60) is None
    assert ports.dead() == [EVENT]
    continuations.send(EVENT)
    assert continuations.receive(60)[1] == EVENT


def test_a_receipt_that_is_spent_does_nothing(continuations):
    continuations.send(EVENT)
    receipt, _ = continuations.receive(60)
    continuations.ack(receipt)
    continuations.fail(receipt, "too late")
    continuations.hold(receipt, 0)
    assert continuations.receive(60) is None


def test_an_event_is_held_for_as_long_as_it_is_asked(continuations, clock):
    continuations.send(EVENT)
    receipt, _ = continuations.receive(60)
    continuations.hold(receipt, 300)
    clock.now += 200
    assert continuations.receive(60) is None
    continuations.hold(receipt, 0)
    assert continuations.receive(60)[1] == EVENT


@pytest.mark.parametrize("wait_s", [0, 500])
def test_a_failed_event_waits_for_as_long_as_it_is_asked(continuations, wait_s):
    continuations.send(EVENT)
    receipt, _ = continuations.receive(60)
    assert continuations.fail(receipt, "NCBI asks for a pause", wait_s=wait_s) == wait_s
    assert (continuations.receive(60) is None) == bool(wait_s)


def test_a_message_without_a_mark_is_not_early(continuations):
    assert continuations.early_s({}) == 0

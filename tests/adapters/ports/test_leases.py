def test_one_holds_it_at_a_time_and_alone_releases_it(leases):
    assert leases.acquire("sync:q", "me", 60)
    leases.release("sync:q", "you")
    assert not leases.acquire("sync:q", "you", 60)
    assert leases.acquire("sync:r", "you", 60)
    for _ in range(2):
        leases.release("sync:q", "me")
    assert leases.acquire("sync:q", "you", 60)


def test_the_holder_extends_its_lease(leases, clock):
    leases.acquire("n", "me", 60)
    clock.now += 59
    assert leases.acquire("n", "me", 60)
    clock.now += 59
    assert not leases.acquire("n", "you", 60)


def test_a_lease_that_was_taken_by_a_clock_that_was_ahead_runs_out_all_the_same(leases, clock):
    years = 4 * 365 * 86_400
    clock.now += years
    assert leases.acquire("n", "me", 60)
    clock.now -= years
    assert not leases.acquire("n", "you", 60)
    clock.now += 59
    assert not leases.acquire("n", "you", 60)
    clock.now += 1
    assert leases.acquire("n", "you", 60)


def test_a_lease_that_ran_out_is_free(leases, clock):
    leases.acquire("n", "me", 60)
    clock.now += 60
    assert leases.acquire("n", "you", 60)
    assert not leases.acquire("n", "me", 60)

"""Writers that take turns, one call of a port at a time, in an order that follows from a seed.

Each writer is a thread. It stops before each call of a port, and whoever's turn is next goes on, so that one runs at a
time. On the way a writer is left standing for a while, or killed, and then perhaps started again; and the clock, which
is the only one, is set ahead by years or back.
"""

from _thread import start_new_thread
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from threading import Lock

from bio_mcp.errors import Failure
from bio_mcp.literature.clock import EASTERN
from bio_mcp.ports import BackendsOver
from bio_mcp.scope import current

PORTS = frozenset(
    "documents passages indexes entrez checkpoints news jobs leases continuations announcements projects collections "
    "project_documents answers sources blobs".split()
)
WINDOWS = (  # before which a writer may stand, as it has in hand what it is about to write
    *("documents.put", "passages.upsert_chunks", "documents.mark_indexed", "passages.delete", "documents.delete"),
    *(
        "news.find",
        "news.record",
        "indexes.switch",
        "checkpoints.advance",
        "collections.replace",
        "collections.rebuild",
    ),
    *("project_documents.put", "jobs.put", "documents.standing"),
)
FENCED = frozenset({"documents", "news", "checkpoints", "jobs", "collections", "project_documents"})
WRITES = frozenset("put mark_indexed delete find advance replace upsert".split())
YEARS = timedelta(days=4 * 365)
MOST_STEPS = 20_000


class Killed(BaseException):
    """The process of the writer has ended: it does nothing more, not even what it does at last."""


class Clock:
    """The time: `true` as it is outside, and `ahead` of that as this machine has it."""

    def __init__(self):
        self.true, self.ahead = datetime(2026, 3, 1, 12, tzinfo=UTC), timedelta()

    def now(self):
        return self.true + self.ahead

    def time(self):
        return self.now().timestamp()

    def today(self):
        return self.now().astimezone(EASTERN).date()

    @property
    def day_outside(self):
        return self.true.astimezone(EASTERN).date()

    def pass_by(self, seconds):
        self.true += timedelta(seconds=seconds)


class Port:
    """A port before each call of which `step` is called, and before each thing that it yields."""

    def __init__(self, name, port, step):
        self.__dict__.update(_name=name, _port=port, _step=step)

    def __getattr__(self, method):
        found = getattr(self._port, method)
        if not callable(found) or method == "name":
            return found

        def call(*given, **more):
            is_late = self._step(f"{self._name}.{method}")
            result = found(*given, **more)
            assert not is_late, f"{self._name}.{method} wrote under a lease that had passed to another"
            if method == "all" and self._name == "indexes":
                return [self._index(each) for each in result]
            if method == "begin":
                return self._index(result)
            return self._each(method, result) if isinstance(result, Iterator) else result

        return call

    def _index(self, index):
        return replace(index, passages=Port(f"passages of the {index.role}", index.passages, self._step))

    def _each(self, method, result):
        for each in result:
            self._step(f"{self._name}.{method} goes on")
            yield each


class Stepping(BackendsOver):
    """Backends whose ports let others have their turn before each call."""

    def __init__(self, backends, let_others):
        super().__init__(backends)
        self._let_others = let_others

    def step(self, what):
        """Let others have their turn; returns whether a write comes too late, under a lease that is another's now."""
        self._let_others(what)
        port, _, method = what.partition(".")
        hold = current().hold
        if hold is None or port not in FENCED or method not in WRITES or what == "project_documents.find":
            return False
        return self.over.has_passed_on(hold)

    def find_port(self, name):
        found = getattr(self.over, name)
        return Port(name, found, self.step) if name in PORTS and found is not None else found


class Writer:
    """A run of a command: `run` is called with `Stepping` backends over what `opened` opens for it alone.

    `outcome` is what it returned, the failure that it ended with, or `Killed`; None: it has not ended. `waits_for`
    says whether it may begin.
    """

    def __init__(self, name, opened, run, waits_for=lambda: True):
        self.name, self.opened, self.run, self.waits_for = name, opened, run, waits_for
        self.turn = Lock()
        self.turn.acquire()
        self.outcome, self.is_dead, self.steps, self.stands, self.dies_at = None, False, 0, 0, 0
        self.windows = []
        self.error = None


class Schedule:
    """Runs writers by the order that `random` draws. `events` are done on the way, each at a step that is drawn."""

    def __init__(self, random, clock, events=()):
        self.random, self.clock, self.order = random, clock, []
        self.stays = random.choice([0.0, 0.5, 0.8, 0.95])  # the share of steps after which the same goes on
        self.pauses = random.choice([0.0, 0.0, 0.02])
        self.writers, self.killed, self.over = [], [], Lock()
        self.over.acquire()
        self.steps = 0
        self.due = sorted(
            ((random.randrange(60), position, each) for position, each in enumerate(events)), reverse=True
        )

    def start(self, writer):
        if self.random.random() < 0.3:
            writer.dies_at = self.random.randrange(1, 60)
        if self.random.random() < 0.7:
            writer.windows = [*self.random.choices(WINDOWS, [4, 4, 2, 2, 2, *[1] * 9])] * self.random.choice(
                [1, 1, 1, 2]
            )
        self.writers.append(writer)
        start_new_thread(self._thread, (writer,))  # a `Thread` would wait until it runs

    def run(self, writers):
        """Run the writers, and those that are started anew, to their ends. Raises what none may end with."""
        for each in writers:
            self.start(each)
        self._next(None)
        assert self.over.acquire(timeout=120), "nobody has a turn"
        for each in self.writers:
            if each.error is not None:
                raise each.error

    def step(self, writer, what):
        """Let others have their turn, then go on with the call `what`, unless the writer is killed."""
        if writer.is_dead:
            raise Killed
        if stands := what in writer.windows:
            writer.windows.remove(what)
        self._next(writer, stands=stands and not writer.windows)
        writer.steps += 1
        self.clock.pass_by(self.random.choice([0, 0, 0.1, 2]))
        if writer.steps == writer.dies_at:
            writer.is_dead = True
            self.order.append(f"{writer.name} is killed before {what}")
            raise Killed
        self.order.append(f"{writer.name} {what}")

    def _thread(self, writer):
        writer.turn.acquire()
        try:
            with writer.opened(writer, self) as backends:
                writer.outcome = writer.run(Stepping(backends, lambda what: self.step(writer, what)))
        except Failure as failure:
            writer.outcome = failure
        except Killed:
            writer.outcome = Killed
            self._after_kill(writer)
        except BaseException as error:  # noqa: BLE001  it is raised by whoever waits
            writer.outcome, writer.error = error, error
        self.order.append(f"{writer.name} ends: {writer.outcome!r}")
        if writer.error is None:
            self._next(writer)
        else:
            self.over.release()

    def _after_kill(self, writer):
        """Perhaps a person starts it again."""
        if self.random.random() < 0.5 and len(self.writers) < 6:
            again = Writer(f"{writer.name}'", writer.opened, writer.run)
            again.stands = self.random.randrange(60)
            self.start(again)

    def _next(self, writer, *, stands=False):
        """Have the next writer's turn begin, and wait for that of this one, if it has not ended."""
        self._happens()
        chosen = self._chosen(writer, stands)
        if chosen is writer:
            return
        (chosen.turn if chosen else self.over).release()
        if writer is not None and writer.outcome is None:
            writer.turn.acquire()

    def _happens(self):
        """Do what is due by now, or at once where else nobody would go on."""
        self.steps += 1
        assert self.steps < MOST_STEPS, "it does not end"
        while self.due and (self.due[-1][0] <= self.steps or not any(not each.stands for each in self._running())):
            if not self._unended():
                return
            _, _, event = self.due.pop()
            self.order.append(f"-- {event.__name__}")
            event()

    def _unended(self):
        return [each for each in self.writers if each.outcome is None]

    def _running(self):
        return [each for each in self._unended() if each.waits_for()]

    def _chosen(self, writer, stands):
        """Whose turn is next; None when all have ended."""
        running = self._running()
        for each in running:
            each.stands = max(0, each.stands - 1)
        if writer in running and (stands or self.random.random() < self.pauses):
            writer.stands = self.random.choice([10, 40, 1_000, 1_000])
            self.clock.pass_by(self.random.choice([0, 400, 700, 100_000]))
            self._happens()
            running = self._running()
        ready = [each for each in running if not each.stands]
        if not ready:
            chosen = min(running, key=lambda each: each.stands, default=None)
            if chosen:
                chosen.stands = 0
            return chosen
        return writer if writer in ready and self.random.random() < self.stays else self.random.choice(ready)

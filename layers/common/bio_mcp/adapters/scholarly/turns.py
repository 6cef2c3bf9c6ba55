"""Turns at a service beside NCBI: charged to the caller, and in that service's name where there are none."""

from bio_mcp.deadline import Deadline
from bio_mcp.errors import DeadlineExceeded, NcbiRateLimited, UpstreamFailed
from bio_mcp.metering import account_of_call, spend
from bio_mcp.ports.ncbi import RateLimiter


class ServiceTurns:
    """The port `RateLimiter` over another, which hands out turns at the service of this `name`."""

    def __init__(self, name: str, turns: RateLimiter) -> None:
        self._name = name
        self._turns = turns

    def wait(self, deadline: Deadline, share: str = "") -> None:
        spend("sources")
        try:
            self._turns.wait(deadline, share or account_of_call())
        except NcbiRateLimited as failure:
            sentence = f"{self._name} asked us to slow down for longer than this call may take; try again later"
            raise UpstreamFailed(sentence, retry_after_s=failure.retry_after_s) from None
        except DeadlineExceeded as failure:
            sentence = f"too many requests to {self._name} are waiting for their turn; ask for less or try again"
            raise DeadlineExceeded(sentence, retry_after_s=failure.retry_after_s) from None

    def cool_down(self, seconds: float) -> None:
        self._turns.cool_down(seconds)

"""`bio-mcp doctor`: checks that the installation and its corpus are complete and consistent."""

from collections.abc import Mapping
from typing import Any

import click

from bio_mcp.doors import terminal
from bio_mcp.doors.cli.checks import diagnosis
from bio_mcp.doors.cli.options import answering
from bio_mcp.doors.cli.session import Session

MARKS = {"ok": "ok", "warn": "warn", "fail": "FAIL"}
VERDICTS = {
    "ok": "Everything is in order.",
    "warn": "Nothing is broken; see the rows marked warn.",
    "fail": "Something is broken; follow the advice beside FAIL.",
}


@click.command("doctor")
@click.option("--ncbi", is_flag=True, help="Ask NCBI too, within 10 seconds.")
@click.option("--upstreams", is_flag=True, help="Ask every service that is configured, each within 10 seconds.")
@answering
def doctor_command(session: Session, ncbi: bool, upstreams: bool) -> None:
    """Check this installation and its corpus, with advice on every problem.

    --upstreams asks NCBI's E-utilities and its ID converter, and where they are configured the language model (for a
    few tokens), the issuer of access tokens and the OpenTelemetry collector.
    """
    session.builds_model = False
    body = session.ask(diagnosis(session.settings), {"ncbi": ncbi, "upstreams": upstreams})
    session.answer(body, render)
    session.code = 0 if body["ok"] else 1


def render(body: Mapping[str, Any]) -> None:
    """Print a row per check with its advice, then the verdict."""
    rows = [
        (terminal.styled(MARKS[each["state"]], terminal.STYLES[each["state"]]), each["check"], _with_remedy(each))
        for each in body["checks"]
    ]
    terminal.show(terminal.table(("", "check", "found"), rows))
    terminal.say(VERDICTS[max((each["state"] for each in body["checks"]), key=list(VERDICTS).index)])


def _with_remedy(check: Mapping[str, Any]) -> str:
    return f"{check['found']}\n{check['remedy']}" if check["remedy"] else str(check["found"])

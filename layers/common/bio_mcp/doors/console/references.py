"""The page References: a list is pasted or dropped, each is compared with PubMed, and the right ones come as a file."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from bio_mcp.doors.console.console import Console, form_error
from bio_mcp.doors.console.search import FORMAT_NAMES
from bio_mcp.querying.references.checking import PROBLEMS, problem_of
from bio_mcp.tools.bibliography import LONGEST, check_bibliography

PATH = "/references"
MOST_BYTES = 4 * LONGEST
FOUND = "found"
VERDICTS = {**PROBLEMS, FOUND: "It agrees with PubMed."}
"""What each verdict means, in the order in which references are shown."""
NAMES = {name: name.replace("_", " ").capitalize() for name in VERDICTS} | {"concern": "Expression of concern"}
LISTS = {name: FORMAT_NAMES[name] for name in ("ris", "bibtex", "csl-json", "text")}
"""The formats of the corrected list."""


async def empty(console: Console, request: Request) -> Response:
    """The page with the field for a list."""
    return console.page(request, "references.html", **_shown({}), text="", error=None)


async def check(console: Console, request: Request) -> Response:
    """Check the list that was pasted, or the file that was sent."""
    form = await console.form(request, MOST_BYTES)
    text = form.get("references", "")
    if form.files and form.files[0].content:
        text = form.files[0].content.decode("utf-8", "replace")
    if not text.strip():
        error = form_error("Paste a list of references, or choose a file.")
        return console.page(request, "references.html", **_shown({}), text="", error=error)
    return await _checked(console, request, {"text": text}, text)


async def progress(console: Console, request: Request) -> Response:
    """Go on with a long list, and show what was found by now."""
    return await _checked(console, request, {"job_id": request.path_params["job_id"]}, "")


async def _checked(console: Console, request: Request, arguments: Mapping[str, Any], text: str) -> Response:
    """The page of the verdicts. An answer has as many as it has room for: the others are asked for."""
    rows: list[Any] = []
    start: int | None = 0
    while start is not None:
        outcome = await console.ask(check_bibliography, {**arguments, "start": start}, request)
        if outcome.failed:
            error = outcome.body["error"]
            return console.page(request, "references.html", **_shown({}), text=text, error=error)
        rows += outcome.body["references"]
        start = outcome.body.get("next")
        if job_id := outcome.body.get("job_id"):
            arguments = {"job_id": job_id}
    return console.page(
        request, "references.html", **_shown({**outcome.body, "references": rows}), text=text, error=None
    )


def _shown(body: Mapping[str, Any]) -> dict[str, Any]:
    """What the page shows of the verdicts: the references by verdict, the retracted ones first."""
    order = list(VERDICTS)
    rows = [{**each, "problem": problem_of(each) or FOUND} for each in body.get("references", ())]
    counts = Counter(each["problem"] for each in rows)
    right = [each["pmid"] for each in rows if each.get("pmid") and each["problem"] != "retracted"]
    return {
        "data": body,
        "rows": sorted(rows, key=lambda each: (order.index(each["problem"]), each["position"])),
        "counts": {name: counts[name] for name in VERDICTS if counts[name]},
        "verdicts": VERDICTS,
        "names": NAMES,
        "moving": body.get("state", "complete") in ("continues", "running"),
        "right": list(dict.fromkeys(right)),
        "formats": LISTS,
    }

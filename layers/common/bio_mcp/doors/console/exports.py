"""Downloads of exported files: `GET /exports/{id}`, for people who are signed in and for holders of an access token."""

from collections.abc import AsyncIterator
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse

from bio_mcp.doors.console.console import Answer, Console
from bio_mcp.doors.console.headers import PRIVATE
from bio_mcp.tools.exports import export_details, exported_part


def download(console: Console) -> Answer:
    """The file of an export: part by part, or from where it is stored, if that has an address for the caller."""

    async def answer(request: Request) -> Response:
        outcome = await console.ask(export_details, {"id": request.path_params["id"]}, request)
        if outcome.failed:
            return console.failure(request, outcome)
        file = outcome.body
        if file.get("url"):
            return RedirectResponse(file["url"], 302, PRIVATE)
        headers = {**PRIVATE, "content-disposition": f'attachment; filename="{quote(file["name"])}"'}
        return StreamingResponse(_parts(console, request, file["parts"]), headers=headers, media_type=file["mime_type"])

    return answer


async def _parts(console: Console, request: Request, parts: int) -> AsyncIterator[bytes]:
    """The text of each part. A part that fails breaks the download off, so that no shorter file is taken for whole."""
    for number in range(1, parts + 1):
        named = {"id": request.path_params["id"], "part": str(number)}
        outcome = await console.ask(exported_part, named, request)
        if outcome.failed:
            raise ConnectionAbortedError(f"part {number} of an export could not be read")
        yield outcome.body["text"].encode()

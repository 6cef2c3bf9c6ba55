"""Language models behind any endpoint with OpenAI's chat completions (POST {base_url}/chat/completions)."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import httpx

from bio_mcp.adapters.http import TRANSIENT_STATUSES, http_client, read_body
from bio_mcp.adapters.language_models import prompt
from bio_mcp.adapters.retry import Backoff, retry
from bio_mcp.deadline import Deadline
from bio_mcp.errors import UpstreamFailed
from bio_mcp.lazy import Lazy
from bio_mcp.ports.language_models import Generated

BACKOFF = Backoff(tries=3, first_s=0.5, cap_s=4.0, patience_s=5.0)

_UNREADABLE = "The language model's answer cannot be read."


class _TransientFailure(UpstreamFailed):
    """A failure that a retry may cure."""


class OpenAiLanguageModel:
    """The port `LanguageModel`: `model` at `base_url`.

    `api_key` is called for each request; its key is sent as a bearer token and is in no log or message. The endpoint's
    messages are not repeated, since some echo the key. `client` replaces the one made on first use.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: Callable[[], str] | None = None,
        seconds: float = 15.0,
        backoff: Backoff = BACKOFF,
        client: httpx.Client | None = None,
    ) -> None:
        self._url = base_url.rstrip("/") + "/chat/completions"
        self._model = model
        self._api_key = api_key
        self._seconds = seconds
        self._backoff = backoff
        self._client = Lazy(lambda: client or http_client())

    @property
    def fingerprint(self) -> str:
        return prompt.fingerprint("openai", self._model, self._url)

    def generate(self, question: str, passages: Sequence[str], deadline: Deadline) -> Generated:
        deadline = deadline.share(self._seconds)
        body = {
            "model": self._model,
            "messages": [
                {"role": "system", "content": prompt.INSTRUCTIONS},
                {"role": "user", "content": prompt.asked(question, passages)},
            ],
            "temperature": 0,
            "max_tokens": prompt.MOST_TOKENS,
        }
        answer = retry(
            lambda: self._post(body, deadline), worth=_TransientFailure, backoff=self._backoff, deadline=deadline
        )
        return _generated(answer)

    def _post(self, body: dict[str, Any], deadline: Deadline) -> bytes:
        deadline.check("asking the language model")
        headers = {"Authorization": f"Bearer {self._api_key()}"} if self._api_key else {}
        timeout = httpx.Timeout(deadline.remaining)
        try:
            with self._client().stream("POST", self._url, json=body, headers=headers, timeout=timeout) as response:
                if response.status_code != httpx.codes.OK:
                    raise _refusal(response)
                return read_body(response, deadline, "reading the language model's answer")
        except ValueError:
            raise UpstreamFailed(_UNREADABLE, retryable=False) from None
        except httpx.TimeoutException:
            raise _TransientFailure("The language model did not answer in time.") from None
        except (httpx.HTTPError, httpx.InvalidURL):
            raise _TransientFailure("The language model cannot be reached; check BIO_MCP_LLM_BASE_URL.") from None


def _generated(content: bytes) -> Generated:
    try:
        answer = json.loads(content)
        text = answer["choices"][0]["message"]["content"]
        usage = answer.get("usage") or {}
        tokens = [_count(usage.get(each)) for each in ("prompt_tokens", "completion_tokens")]
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        raise UpstreamFailed(_UNREADABLE) from None
    if not isinstance(text, str):
        raise UpstreamFailed(_UNREADABLE)
    return Generated(prompt.read(text), *tokens)


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) else None


def _refusal(response: httpx.Response) -> UpstreamFailed:
    status = response.status_code
    if status in TRANSIENT_STATUSES:
        after = response.headers.get("Retry-After", "").strip()
        seconds = float(after) if after.isdecimal() else None
        return _TransientFailure(f"The language model is busy or down (HTTP {status}).", retry_after_s=seconds)
    if status in {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN}:
        return UpstreamFailed(f"The language model refused the API key (HTTP {status}).", retryable=False)
    return UpstreamFailed(
        f"The language model refused the request (HTTP {status}); check BIO_MCP_LLM_BASE_URL and BIO_MCP_LLM_MODEL.",
        retryable=False,
    )

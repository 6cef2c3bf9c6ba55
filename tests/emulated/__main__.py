"""`python -m tests.emulated`: the stack of template.yaml on this machine, filled with the sample, until Ctrl-C."""

import argparse
import signal
import sys
import time
from pathlib import Path

from tests.emulated.build import Failed
from tests.emulated.clients import REGION, configured
from tests.emulated.cloud import SAMPLES, Cloud, cloud
from tests.emulated.emulator import Unusable
from tests.support.opensearch_node import artefacts

KEY, TERM = "demo", "hasabstract"
CALL = """
The stack is up at {endpoint}; Ctrl-C stops it and forgets everything.

  MCP endpoint  {mcp}
  access token  {token}

  claude mcp add --transport http bio-mcp-local '{mcp}' --header 'Authorization: Bearer {token}'
  curl '{mcp}' -H 'Authorization: Bearer {token}' -H 'Accept: application/json' -H 'Content-Type: application/json' \\
    -d '{{"jsonrpc": "2.0", "id": 1, "method": "tools/call",
         "params": {{"name": "rag_search", "arguments": {{"query": "migraine", "top_k": 3}}}}}}'

AWS's own tools reach it with AWS_ENDPOINT_URL={endpoint} AWS_DEFAULT_REGION={region} AWS_ACCESS_KEY_ID=test
AWS_SECRET_ACCESS_KEY=test, as in: aws logs tail /aws/lambda/{name}-sync_delta --follow
"""


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        options = _options()
        with cloud(options.endpoint, host=options.host, files=options.files or SAMPLES, term=options.term) as up:
            _say(up)
            up.stack.send({"tool": "pubmed.sync_delta", "arguments": {"query_key": KEY, "term": options.term}})
            print(f"A sync of {options.term!r} from the local NCBI is under way, as {KEY}.", flush=True)
            while True:
                time.sleep(3_600)
    except KeyboardInterrupt:
        pass
    except (Failed, Unusable, artefacts.Unusable) as problem:
        sys.exit(str(problem))


def _say(up: Cloud) -> None:
    stack = up.stack
    shown = {"endpoint": stack.endpoint, "mcp": stack.mcp_url, "token": stack.token(30 * 86_400)}
    print(CALL.format(**shown, region=REGION, name=stack.name), flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.emulated", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help="PubMed XML that the local NCBI serves; a sample if absent")
    parser.add_argument("--term", default=TERM, help="what of it is synced")
    named = "that of LOCALSTACK_HOST and USE_SSL, or AWS_ENDPOINT_URL; where none is set, an emulator of our own"
    parser.add_argument("--endpoint", default=configured(), help=f"a LocalStack that runs; default {named}")
    parser.add_argument("--host", default="127.0.0.1", help="address of this machine as the functions reach it")
    return parser.parse_args()


if __name__ == "__main__":
    main()

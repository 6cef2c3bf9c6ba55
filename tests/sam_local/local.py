"""Every function of the built template in a container of Lambda's image, by `sam local start-lambda`.

A container is started by the first event of its function, and stays warm for the others.
"""

import json
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import httpx
import pytest

from bio_mcp.ingesting.projects import Options, create_project
from bio_mcp.settings import Settings
from bio_mcp.syncing.applying import apply_records
from bio_mcp.wiring.aws import Aws
from tests.emulated.build import QUIET, ROOT, SAM, build
from tests.emulated.cloud import SAMPLES, Cloud, cloud
from tests.emulated.stack import Stack
from tests.sam_local.engine import Unusable, engine, run
from tests.sam_local.image import ARCH, ensure
from tests.support.examples import BUCKET
from tests.support.nlm_files import md5_file_of, serving
from tests.support.opensearch_node.jvm import free_port
from tests.support.sample_corpus import articles
from tests.support.sample_graph import add_graph
from tests.support.sample_job import add_job
from tests.support.sample_project import add_project
from tests.support.sample_review import add_review
from tests.support.scholarly_server.server import serving as serving_others
from tests.support.scholarly_server.shapes import crossref_work, epmc_record, icite_paper

FILES = (*SAMPLES, ROOT / "tests/data/pubmed/edges.xml.xz")  # the last has the book that an event asks for
ADDRESSES = "{{json .IPAM.Config}}"
DOORS = ("McpHttpFunction", "ConsoleFunction", "AuthorizeFunction")
PUBLISHED = ROOT / "layers/common/bio_mcp/evaluating/sets/answers/records.xml.gz"  # as the first file of the baseline
INBOX, SOURCES = "inbox/lab/heart-failure", "sources"
DOIS = ("10.1111/j.1651-2227.2007.00439.x", "10.1101/2020.04.15.20066803")  # what Crossref has
PAPER = ROOT / "tests/data/pdf/micropub001725.pdf"
UNKNOWN = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_ENDPOINT_URL"}
START_S, STOP_S, CALL_S = 120, 60, 300


@dataclass(frozen=True)
class SamLocal:
    """`address` is where functions are invoked, as at Lambda's own; `env` has the Docker engine, `variables` what the
    functions are given, by logical id."""

    address: str
    cloud: Cloud
    env: Mapping[str, str]
    variables: Mapping[str, Mapping[str, str]]

    def event(self, path: str) -> dict[str, Any]:
        """The event of a file below `events`, about the stack's bucket."""
        text = (ROOT / "events" / path).read_text().replace(BUCKET, self.cloud.stack.outputs["Bucket"])
        event: dict[str, Any] = json.loads(text)
        return event

    def invoke(self, function: str, event: Mapping[str, Any]) -> Any:
        """The function's answer; of one over HTTP with its body as JSON where that is its type. AssertionError when the
        function failed."""
        answer = httpx.post(url_of(self.address, function), json=event, timeout=2 * CALL_S)
        assert answer.status_code == 200, f"{answer.status_code} {answer.text}"
        body = answer.json()
        if body.get("headers", {}).get("content-type", "").startswith("application/json"):
            body["body"] = json.loads(body["body"])
        return body


def logical_id(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_")) + "Function"


def url_of(address: str, function: str) -> str:
    return f"{address}/2015-03-31/functions/{logical_id(function)}/invocations"


def host_of(addresses: str) -> str:
    """This machine's address on a Docker network. An engine that has just made the network names only the subnet, of
    which it takes the first address itself."""
    [first, *_] = json.loads(addresses)
    return str(first.get("Gateway") or next(ip_network(first["Subnet"]).hosts()))


@contextmanager
def sam_local() -> Iterator[SamLocal]:
    """The functions over the stores of a stack in an emulator that containers reach, filled as the events expect.
    Raises what says what cannot be had."""
    with ExitStack() as opened:
        env = opened.enter_context(engine())
        ensure(env)
        host = host_of(run(env, "docker", "network", "inspect", "bridge", "--format", ADDRESSES))
        scratch = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="sam-local-")))
        nlm = opened.enter_context(serving(_published(scratch / "nlm"), host))
        others = opened.enter_context(serving_others(host))
        others.papers["17727691"], others.records = icite_paper(17727691), [epmc_record("PPR", "PPR1")]
        others.works |= {doi: crossref_work(doi) for doi in DOIS}
        reached = {"AllowedHosts": f"{host}:*"}  # by the heartbeat
        up = opened.enter_context(cloud(host=host, files=FILES, enforcing=False, nlm=nlm.url, others=reached))
        _fill(up.stack)
        more = {"heartbeat_url": up.stack.mcp_url, **others.settings}
        template = edited(build(), {f"BIO_MCP_{name.upper()}": url for name, url in more.items()})
        variables = given(up.stack, template)
        address = opened.enter_context(_started(env, template, variables, scratch))
        yield SamLocal(address, up, env, variables)


def edited(template: Path, more: Mapping[str, str]) -> Path:
    """A template beside this one whose functions have more variables, and time on a slow machine."""
    beside, place = template.with_name("sam-local.yaml"), "        BIO_MCP_MODE: aws\n"
    lines = "".join(f"        {name}: {value}\n" for name, value in more.items())
    text = template.read_text().replace(place, place + lines, 1)
    beside.write_text(re.sub(r"^      Timeout: \d+$", f"      Timeout: {CALL_S}", text, flags=re.MULTILINE))
    return beside


def given(stack: Stack, template: Path) -> dict[str, dict[str, str]]:
    """The variables of the deployed functions, by logical id: `sam local` cannot work them out of the template.

    Those of the doors let in the token of their events.
    """
    found = {}
    for name in re.findall(r"CodeUri: \S+functions/(\w+)$", template.read_text(), re.MULTILINE):
        configuration = stack.client("lambda").get_function_configuration(FunctionName=f"{stack.name}-{name}")
        found[logical_id(name)] = configuration["Environment"]["Variables"]
        found[logical_id(name)].pop("BIO_MCP_MODELS", None)
    [secret] = re.findall(r"```text\n(.+)\n```", (ROOT / "events/README.md").read_text())[:1]
    for door in DOORS:
        found[door] |= {"MCP_AUTH_SECRET_KEY": secret, "MCP_AUTH_AUDIENCE": "bio-mcp"}
    return found


@contextmanager
def _started(
    env: Mapping[str, str], template: Path, variables: Mapping[str, Mapping[str, str]], scratch: Path
) -> Iterator[str]:
    given, log, port = scratch / "variables.json", scratch / "log", free_port()
    given.write_text(json.dumps(variables))
    options = ["--template", template, "--env-vars", given, "--port", str(port), "--warm-containers", "LAZY"]
    options += ["--skip-pull-image", "--language-extensions"]
    options += ["--parameter-overrides", f"Arch={ARCH} LoadsAtOnce=2"]
    known = {key: value for key, value in env.items() if key not in UNKNOWN} | QUIET
    with log.open("wb") as out:
        process = subprocess.Popen(
            [SAM, "local", "start-lambda", *options],
            env=known,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,  # so that Ctrl-C reaches it only below
        )
    try:
        address = f"http://127.0.0.1:{port}"
        _wait(process, address, log)
        yield address
    finally:
        process.terminate()
        process.wait(STOP_S)


def _wait(process: subprocess.Popen[bytes], address: str, log: Path) -> None:
    end = time.monotonic() + START_S
    while True:
        try:
            httpx.get(address, timeout=5)  # there is nothing, and that is an answer
        except httpx.TransportError:
            if process.poll() is not None or time.monotonic() > end:
                raise Unusable(f"sam local does not start; its log ends:\n{log.read_text()[-2_000:]}") from None
            time.sleep(0.2)
        else:
            return


def _published(into: Path) -> Path:
    """Files as NLM publishes them: one of the baseline, with its MD5."""
    content, file = PUBLISHED.read_bytes(), into / "baseline/pubmed26n0001.xml.gz"
    for folder in ("baseline", "updatefiles"):
        (into / folder).mkdir(parents=True)
    file.write_bytes(content)
    file.with_name(f"{file.name}.md5").write_text(md5_file_of(file.name, content))
    return into


def _fill(stack: Stack) -> None:
    """Put the sample corpus of the tests into the stack, as an operator's shell, and files into its bucket."""
    bucket, files = stack.outputs["Bucket"], stack.client("s3")
    files.put_object(Bucket=bucket, Key=f"{SOURCES}/exports.md", Body=(ROOT / "docs/exports.md").read_bytes())
    questions = (ROOT / "events/evaluate/questions.jsonl").read_bytes()
    files.put_object(Bucket=bucket, Key=f"{SOURCES}/questions.jsonl", Body=questions)
    with stack.queue_closed("ingest"):  # or the function in the emulator would read it first
        files.put_object(Bucket=bucket, Key=f"{INBOX}/Statins in adults (2024).pdf", Body=PAPER.read_bytes())
        stack.client("sqs").purge_queue(QueueUrl=stack.outputs["IngestQueueUrl"])
    with pytest.MonkeyPatch.context() as shell:
        for name, value in stack.environment.items():
            shell.setenv(name, value)
        backends = Aws(Settings.from_env())
        backends.articles = articles()
        apply_records(backends.articles, backends)
        for add in (add_project, add_graph, add_job, add_review):
            add(backends)
        create_project("lab/heart-failure", Options(), backends)
        backends.close()

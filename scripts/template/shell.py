"""The output Environment: what a shell sets, so that commands act on the stack as its functions do."""

from textwrap import wrap

from scripts.template.blocks import Tagged, Value
from scripts.template.image import EVERYONES
from scripts.template.resources import VALUES

OF_A_FUNCTION = {"BIO_MCP_MODELS", "BIO_MCP_THREADS", "ORT_DISABLE_TELEMETRY"}  # of its layers and its processor
OF_A_STACK = {"BIO_MCP_MODE", "BIO_MCP_METRICS", "AWS_ENDPOINT_URL"}
MORE = {
    "BIO_MCP_INGEST_QUEUE_URL": "!Ref IngestQueue",
    "BIO_MCP_EVALUATE_QUEUE_URL": "!Ref EvaluateQueue",
    "BIO_MCP_EXPORT_QUEUE_URL": "!Ref ExportQueue",
    "BIO_MCP_DEAD_LETTERS_URL": "!Ref DeadLetters",
    "BIO_MCP_LOAD_MACHINE": '!If [LoadsInBulk, !Ref LoadMachine, ""]',
    "AWS_DEFAULT_REGION": "!Ref AWS::Region",
}
QUOTED = r"""!Join ["'\\''", !Split ["'", %s]]"""


def environment() -> dict[str, Value]:
    """The output: the values that functions have, each between single quotes. An e-mail may have one itself."""
    values = {
        name: value for name, value in (VALUES | EVERYONES | MORE).items() if name not in OF_A_FUNCTION | OF_A_STACK
    }
    values |= {name: QUOTED % value for name, value in values.items() if name.endswith("_EMAIL")}
    simple = {name: value.removeprefix("!Ref ") for name, value in values.items() if value.startswith("!Ref ")}
    each = " ".join(f"{name}='${{{simple.get(name, name)}}}'" for name in values)
    lines = [f"  export {line}" for line in wrap(each, 100, break_long_words=False, break_on_hyphens=False)]
    first = ["|-", "  export BIO_MCP_MODE='aws' BIO_MCP_EMBEDDINGS='onnx'"]
    computed: Value = {name: value for name, value in values.items() if name not in simple}
    told = "What a shell sets for bio-mcp to work on this stack"
    return {
        "Environment": {"Description": told, "Value": Tagged("!Sub", ["\n      ".join([*first, *lines]), computed])}
    }

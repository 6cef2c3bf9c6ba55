"""The functions of the template: what is declared beside each, in `functions/<name>/function.toml`, and what follows.

Every key of function.toml may be left out:

description  of the function; else the names of what it serves
timeout_s    of Lambda; else what its longest tool takes and a cold start, within what callers wait
memory_mb    a model takes one whole processor, any other function 512
alarm_ms     how long a call takes when its alarm rings, 0 for no alarm; else four fifths of the time-out, or more
queue        which it works through: its continuations go there too
folder       of the bucket, where it stores files
image        parameter of a container image that takes the place of its code and layers, where one is given
condition    under which there is a function at all
lists        folders of the bucket that it may list, to know what is not there from a denial; else the inbox
endpoint     true where it serves no tools and calls every function that does
calls        the functions that it calls, where it is no endpoint
uses         methods of ports that it uses, as documents.get, where it serves no tools; "blobs.get files" in that folder
settings     variables of its environment beside those of its ports, of `VALUES` in scripts/template/resources.py
layers       beside those that follow
properties   more of AWS::Serverless::Function, each value as YAML
variables    more of its environment, each value as YAML
"""

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from bio_mcp.catalog import MODULES
from bio_mcp.tool import Resource, Tool, resources_in, tools_in
from scripts.port_grants import FOLDER, Given, Grant, given_for
from scripts.template.blocks import Value

ROOT = Path(__file__).parents[2]
DIRECTORY = ROOT / "functions"
KEYS = {"description", "timeout_s", "memory_mb", "alarm_ms", "queue", "endpoint", "layers", "properties"}
KEYS |= {"variables", "image", "folder", "calls", "uses", "settings", "condition", "lists"}
LONGEST_S = 29  # what the HTTP API waits for
COLD_START_S = 5
MODEL_MB, MB = 1769, 512
SECRETS = {  # variable -> condition and parameter of the secret that it names
    "NCBI_API_KEY": ("HasNcbiKey", "NcbiApiKeyName"),
    "ZOTERO_API_KEY": ("HasZoteroKey", "ZoteroApiKeyName"),
    "MCP_AUTH_SECRET_KEY": ("HasAuthSecret", "AuthSecretName"),
}
NOTHING = Given()
QUEUE = ("ReceiveMessage", "DeleteMessage", "ChangeMessageVisibility", "GetQueueAttributes")


@dataclass(frozen=True, slots=True)
class Function:
    """One function: what it serves, and what it is given for the ports that its tools use."""

    name: str
    offered: tuple[Tool | Resource, ...] = ()
    ports: Given = NOTHING
    declared: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """What the logical ids of its resources begin with: GetDoc of get_doc."""
        return "".join(part.title() for part in self.name.split("_"))

    @property
    def is_endpoint(self) -> bool:
        return bool(self.declared.get("endpoint"))

    @property
    def grants(self) -> frozenset[Grant]:
        """What it may do to stores and services."""
        queue = {(f"sqs:{each}", f"{self.queue}.Arn") for each in QUEUE if self.queue}
        return self.ports.grants | queue

    @property
    def queue(self) -> str | None:
        """The queue that it works through."""
        return self.declared.get("queue")

    @property
    def only(self) -> dict[str, Value]:
        """The condition of its resources, as a part of each."""
        return {"Condition": self.declared["condition"]} if "condition" in self.declared else {}

    @property
    def image(self) -> str | None:
        """The parameter of its container image."""
        return self.declared.get("image")

    @property
    def names(self) -> list[str]:
        """What it may be called on AWS, behind the stack's name."""
        return [self.name, *([f"{self.name}_image"] if self.image else [])]

    @property
    def ref(self) -> str:
        """Its name, as YAML: that of the one function of the two, where an image may take the place of the code."""
        return self._either("!Ref %s")

    @property
    def arn(self) -> str:
        """Its ARN, as YAML."""
        return self._either("!GetAtt %s.Arn")

    def _either(self, of: str) -> str:
        code, image = of % f"{self.id}Function", of % f"{self.id}ImageFunction"
        return f"!If [Without{self.image}, {code}, {image}]" if self.image else code

    @property
    def embeds(self) -> bool:
        return "BIO_MCP_MODELS" in self.ports.variables

    @property
    def secrets(self) -> list[tuple[str, str]]:
        """Condition and parameter of each secret that it reads."""
        return [each for variable, each in SECRETS.items() if variable in self.ports.variables]

    def called(self, serving: "Sequence[Function]") -> "list[Function]":
        """Those of the functions that serve tools that it calls."""
        calls = self.declared.get("calls", [])
        return [each for each in serving if self.is_endpoint or each.name in calls]

    @property
    def properties(self) -> dict[str, Value]:
        """More of its properties, as YAML."""
        return _as_yaml(self.declared.get("properties", {}))

    @property
    def variables(self) -> dict[str, Value]:
        """More of its environment, as YAML."""
        return _as_yaml(self.declared.get("variables", {}))

    @property
    def description(self) -> str:
        return str(self.declared.get("description") or ", ".join(each.name for each in self.offered))

    @property
    def timeout_s(self) -> int:
        longest = max((each.timeout for each in self.offered), default=LONGEST_S)
        return int(self.declared.get("timeout_s") or min(LONGEST_S, longest + COLD_START_S))

    @property
    def memory_mb(self) -> int:
        return int(self.declared.get("memory_mb") or (MODEL_MB if self.embeds else MB))

    @property
    def alarm_ms(self) -> int:
        longest = max((each.timeout for each in self.offered), default=0)
        return int(self.declared.get("alarm_ms", max(800 * self.timeout_s, 1000 * (longest + 1))))

    @property
    def layers(self) -> tuple[str, ...]:
        return ("CommonLayer", *(["InferenceLayer"] if self.embeds else []), *self.declared.get("layers", ()))


def _as_yaml(table: Mapping[str, Any]) -> dict[str, Value]:
    return {name: _as_yaml(each) if isinstance(each, dict) else _text(each) for name, each in table.items()}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def declared(name: str, directory: Path = DIRECTORY) -> dict[str, Any]:
    """What stands beside the function, if anything. Raises `LookupError` naming what nobody reads."""
    path = directory / name / "function.toml"
    found = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if unknown := found.keys() - KEYS:
        raise LookupError(f"functions/{name}/function.toml: nothing reads {', '.join(sorted(unknown))}")
    return found


def functions(needed: Callable[[str], Given]) -> list[Function]:
    """Every function, those that serve tools as the catalogue lists them, then the endpoint.

    `needed` tells what the tools of a function take.
    """
    serving = [_serving(module, needed) for module in MODULES]
    others = sorted({path.parent.name for path in DIRECTORY.glob("*/function.toml")} - {each.name for each in serving})
    return [*serving, *(_serving_none(name) for name in others)]


def _serving_none(name: str) -> Function:
    own = declared(name)
    ports = given_for(own.get("uses", []), folder=own.get("folder", FOLDER)) | settings_of(name)
    return Function(name, ports=ports, declared=own)


def settings_of(name: str) -> Given:
    """The variables that a function takes besides those of its ports."""
    return Given(frozenset(declared(name).get("settings", [])))


def _serving(module: ModuleType, needed: Callable[[str], Given]) -> Function:
    name = module.__name__.rpartition(".")[2]
    offered: list[Tool | Resource] = [*tools_in(module).values(), *resources_in(module).values()]
    return Function(name, tuple(offered), needed(name), declared(name))

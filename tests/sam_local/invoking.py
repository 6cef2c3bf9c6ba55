"""`sam local invoke`: a function of the built template in a container, given an event, as AWS would start it."""

import json
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.emulated.build import BUILT, QUIET, SAM
from tests.sam_local.engine import Unusable, run
from tests.sam_local.image import ARCH

UNKNOWN = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_ENDPOINT_URL"}


def logical_id(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_")) + "Function"


@dataclass(frozen=True)
class Local:
    """A Docker engine, and what the functions find in place of what `sam local` cannot work out of the template."""

    env: Mapping[str, str]
    variables: Mapping[str, Mapping[str, str]]  # by logical id

    def invoke(self, name: str, event: Mapping[str, Any]) -> Any:
        """The function's answer. Raises `Unusable` with what was said when there is none or the function crashed."""
        with tempfile.TemporaryDirectory(prefix="sam-local-") as scratch:
            variables, given = Path(scratch) / "variables.json", Path(scratch) / "event.json"
            variables.write_text(json.dumps(self.variables))
            given.write_text(json.dumps(event))
            options = ["--template", BUILT / "template.yaml", "--event", given, "--env-vars", variables]
            options += ["--skip-pull-image", "--parameter-overrides", f"Arch={ARCH}"]
            env = {key: value for key, value in self.env.items() if key not in UNKNOWN} | QUIET
            message = run(env, SAM, "local", "invoke", logical_id(name), *options)
        answer = json.loads(re.findall(r"^\{.*\}$", message, re.MULTILINE)[-1])
        if "errorType" in answer:
            raise Unusable(f"{name} crashed: {answer['errorType']}: {answer.get('errorMessage')}")
        return answer

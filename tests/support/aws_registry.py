"""What AWS's registry says of a type of resource, as cfn-lint brings it along.

https://docs.aws.amazon.com/cloudformation-cli/latest/userguide/resource-type-schema.html
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

CFN_LINT = Path(__file__).parents[2] / ".cache/cfn-lint"
REGION = "us-east-1"


@cache
def schema(kind: str) -> dict[str, Any]:
    """The schema of `AWS::...`; KeyError for a type that there is not."""
    (schemas,) = (CFN_LINT / "lib").glob("python3*/site-packages/cfnlint/data/schemas")
    digest = json.loads((schemas / f"providers/{REGION}.json").read_text())[kind]
    found: dict[str, Any] = json.loads((schemas / f"resources/{digest}.json").read_text())
    return found

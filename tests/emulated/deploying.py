"""What `sam deploy` does, through CloudFormation of any endpoint and without its seconds of starting and asking."""

import io
import re
import time
import zipfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any

from botocore.exceptions import ClientError

from tests.emulated.build import Failed
from tests.emulated.clients import Connect

BUCKET = "deployed-artefacts"
LOCAL = re.compile(r"^( +(?:CodeUri|ContentUri): )(?!s3:)(\S+)$", re.MULTILINE)
NO_EDITS: Mapping[str, str] = MappingProxyType({})
NO_CANARY: Mapping[str, str] = MappingProxyType(  # the emulator has no CodeDeploy, and resolves no parameter for SAM
    {"        Enabled:\n          Ref: Canary": "        Enabled: false"}
)
WAIT_S = 300
KEYS: dict[Path, str] = {}
"""Each directory that was packed by this process -> the hash of what it held."""


def deploy(
    connect: Connect, template: Path, name: str, parameters: Mapping[str, str], edits: Mapping[str, str] = NO_EDITS
) -> dict[str, str]:
    """Create or update the stack `name` and give its outputs; `edits` exchanges texts of the template first.

    Raises `Failed`.
    """
    text = template.read_text()
    for old, new in edits.items():
        text = text.replace(old, new)
    where = _uploaded(connect("s3"), text, template.parent)
    stacks = connect("cloudformation")
    given = [{"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()]
    capable = ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"]
    act = stacks.update_stack if _known(stacks, name) else stacks.create_stack
    try:
        act(StackName=name, TemplateURL=where, Capabilities=capable, Parameters=given)
    except ClientError as error:
        if "No updates are to be performed" not in str(error):
            raise Failed(f"the stack was refused: {str(error)[-2_000:]}") from None
    return _settled(stacks, name)


def _known(stacks: Any, name: str) -> bool:
    try:
        return bool(stacks.describe_stacks(StackName=name)["Stacks"])
    except ClientError:
        return False


def _settled(stacks: Any, name: str) -> dict[str, str]:
    end = time.monotonic() + WAIT_S
    while (stack := stacks.describe_stacks(StackName=name)["Stacks"][0])["StackStatus"].endswith("IN_PROGRESS"):
        if time.monotonic() > end:
            raise Failed(f"the stack is still {stack['StackStatus']} after {WAIT_S} s")
        time.sleep(0.1)
    if stack["StackStatus"] not in ("CREATE_COMPLETE", "UPDATE_COMPLETE"):
        events = stacks.describe_stack_events(StackName=name)["StackEvents"]
        reasons = [
            f"{each['LogicalResourceId']}: {each['ResourceStatusReason']}"
            for each in events
            if each.get("ResourceStatusReason") and "FAILED" in each["ResourceStatus"]
        ]
        raise Failed("\n".join([stack["StackStatus"], stack.get("StackStatusReason", ""), *reasons]))
    return {each["OutputKey"]: each["OutputValue"] for each in stack.get("Outputs", [])}


def _uploaded(s3: Any, text: str, beside: Path) -> str:
    """Where the template is, after it and those of its directories are uploaded that are not there, by hash."""
    if BUCKET not in {each["Name"] for each in s3.list_buckets()["Buckets"]}:
        s3.create_bucket(Bucket=BUCKET)
    there = {each["Key"] for each in s3.list_objects_v2(Bucket=BUCKET).get("Contents", [])}

    def upload(found: re.Match[str]) -> str:
        directory = (beside / found[2]).resolve()
        if KEYS.get(directory) not in there:
            content = _zipped(directory)
            KEYS[directory] = key = sha256(content).hexdigest()
            s3.put_object(Bucket=BUCKET, Key=key, Body=content)
            there.add(key)
        return f"{found[1]}s3://{BUCKET}/{KEYS[directory]}"

    s3.put_object(Bucket=BUCKET, Key="template.yaml", Body=LOCAL.sub(upload, text).encode())
    return f"{s3.meta.endpoint_url}/{BUCKET}/template.yaml"


def _zipped(directory: Path) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sorted(each for each in directory.rglob("*") if each.is_file()):
            member = zipfile.ZipInfo(str(path.relative_to(directory)), (1980, 1, 1, 0, 0, 0))
            member.external_attr = 0o644 << 16
            archive.writestr(member, path.read_bytes())
    return packed.getvalue()

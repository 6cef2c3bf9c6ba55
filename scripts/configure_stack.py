"""Asks what a stack cannot guess and writes it to samconfig.toml, the first time that `make deploy` runs it; each
time, gives SAM the value of every parameter.

`sam deploy --guided` asks for every parameter by its bare name, and looks at the answers when all are given. `sam
deploy` keeps the value that a stack has of each parameter that it is not given: what is no longer in samconfig.toml
would stay, and the defaults of a build (`Arch`, `EmbeddingModel`) would have no effect.
"""

import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import boto3
import tomlkit
from botocore.exceptions import BotoCoreError, ClientError

from scripts import retained
from scripts.template.loops import loaded

ROOT = Path(__file__).parents[1]
ASKED = ("Corpus1Key", "Corpus1Term", "NcbiAdminEmail", "NcbiApiKeyName", "AuthSecretName", "AlarmTopicArn")
ISSUER = ("AuthJwksUrl", "AuthIssuer")  # asked where no secret is named
PUBLISHED = (  # the functions of which versions are published
    "Description: Every tool and resource over MCP",
    "Description: The pages for people",
    "Description: Where people sign in and clients get tokens",
)
BUILT = ROOT / ".aws-sam/build/template.yaml"
WHOLE = ROOT / ".aws-sam/samconfig.toml"
LONGEST_NAME = 64  # of a function
LATER = "Everything else has a default. To change it, edit parameter_overrides in {path} and run make deploy again."


def parameters(path: Path = ROOT / "template.yaml") -> dict[str, dict[str, Any]]:
    """The template's parameters by name."""
    known: dict[str, dict[str, Any]] = loaded(path.read_text())["Parameters"]
    return known


def asked(known: Mapping[str, Mapping[str, Any]], ask: Callable[[str], str]) -> dict[str, str]:
    """The answers that were not empty, each asked for again until the template takes it."""
    answers = {name: _answer(name, known[name], ask) for name in ASKED}
    if not answers["AuthSecretName"]:
        answers |= {name: _answer(name, known[name], ask) for name in ISSUER}
    return {name: answer for name, answer in answers.items() if answer}


def _answer(name: str, parameter: Mapping[str, Any], ask: Callable[[str], str]) -> str:
    while True:
        answer = ask(f"\n{parameter['Description']}\n{name}: ").strip()
        if re.fullmatch(parameter.get("AllowedPattern", ".*"), answer):
            return answer
        print(f"That is not {parameter.get('ConstraintDescription', 'what it takes')}.")


def configured(text: str, environment: str, region: str, answers: Mapping[str, str]) -> str:
    """samconfig.toml with the answers in `environment`, which is made like `default` where there is none."""
    config: Any = tomlkit.parse(text)
    if environment not in config:
        default = config["default"]
        name = f"{default['global']['parameters']['stack_name']}-{environment}"
        like = dict(default["deploy"]["parameters"])
        config[environment] = {"global": {"parameters": {"stack_name": name}}, "deploy": {"parameters": like}}
    deploy = config[environment]["deploy"]["parameters"]
    deploy.pop("parameter_overrides", None)
    if region:
        deploy["region"] = region
    deploy["parameter_overrides"] = listed = tomlkit.array().multiline(True)
    listed.extend(overrides(answers))
    return tomlkit.dumps(config)


def overrides(answers: Mapping[str, str]) -> Iterator[str]:
    """Each parameter in the form from which the SAM CLI reads blanks and quotation marks back as they were."""
    for name, value in answers.items():
        escaped = value.replace('"', '\\"')
        yield f'{name}="{escaped}"'


def stamped(template: str, given: Any) -> str:
    """The template with a digest of the parameters in the descriptions of the functions of which versions are
    published. An alias moves to a new version when the text of the properties changes, which a parameter's value does
    not."""
    digest = sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()[:12]
    for each in PUBLISHED:
        template = template.replace(each, f"{each}, configured as {digest}")
    return template


class Unusable(Exception):
    """samconfig.toml cannot be deployed; says what to change."""


def read(written: Any) -> dict[str, str]:
    """The parameters in `parameter_overrides`, which is a text, a list of texts, or a table."""
    if isinstance(written, Mapping):
        return {name: str(value) for name, value in written.items()}
    found: dict[str, str] = {}
    for text in [written] if isinstance(written, str) else written:
        words = shlex.shlex(text, posix=True, punctuation_chars=False)
        words.quotes, words.commenters, words.whitespace_split = '"', "", True
        named = [word.partition("=") for word in words]
        if unread := [name for name, equals, _ in named if not (equals and re.fullmatch("[A-Za-z0-9]+", name))]:
            raise Unusable(
                f"{unread[0]!r} among parameter_overrides is no NAME=VALUE with the value in quotation marks."
            )
        found |= {name: value for name, _, value in named}
    return found


def check_names(stack: str) -> None:
    """Raises `Unusable` where a function would get a name that Lambda does not take."""
    longest = max((each.name for each in (ROOT / "functions").iterdir()), key=len)
    if (many := LONGEST_NAME - len(f"-{longest}")) < len(stack):
        raise Unusable(
            f"The stack's name may have {many} characters and {stack} has {len(stack)}: a function would be "
            f"{stack}-{longest}, and its name may have {LONGEST_NAME}."
        )


def main() -> None:
    environment, path = sys.argv[1], ROOT / "samconfig.toml"
    if not _deployment(environment, path).get("parameter_overrides"):
        _configure(environment, path)
    deployment = _deployment(environment, path)
    stack = deployment["stack_name"]
    session: Any = boto3.Session(region_name=deployment.get("region"), profile_name=deployment.get("profile"))
    defaults = {name: str(each.get("Default", "")) for name, each in parameters(BUILT).items()}
    try:
        check_names(stack)
        given = defaults | read(deployment["parameter_overrides"])
        taken = retained.parameters(given, stack, session.client)
    except (Unusable, retained.Refused) as problem:
        sys.exit(str(problem))
    except (BotoCoreError, ClientError) as problem:
        sys.exit(f"AWS did not say what the stack {stack} and the account have: {problem}")
    for name, value in taken.items():
        print(f"{name}={value}, of what the stack {stack} has or has left")
    values = given | taken
    WHOLE.write_text(configured(path.read_text(), environment, "", values))
    BUILT.write_text(stamped(BUILT.read_text(), values))


def _deployment(environment: str, path: Path) -> dict[str, Any]:
    """What samconfig.toml has for `sam deploy`; what it has for all commands goes for this one too."""
    config = tomlkit.parse(path.read_text()).unwrap().get(environment, {})
    return {
        name: value
        for command in ("global", "deploy")
        for name, value in config.get(command, {}).get("parameters", {}).items()
    }


def _configure(environment: str, path: Path) -> None:
    text = path.read_text()
    there = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION", "")
    region = input(f"Region [{there or 'that of the AWS CLI'}]: ").strip() or there
    path.write_text(configured(text, environment, region, asked(parameters(), input)))
    print(f"\n{LATER.format(path=path.name)}")


if __name__ == "__main__":
    main()

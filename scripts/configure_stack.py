"""Asks what a stack cannot guess and writes it to samconfig.toml, the first time that `make deploy` runs it.

`sam deploy --guided` asks for every parameter by its bare name, and looks at the answers when all are given.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import tomlkit
import yaml

ROOT = Path(__file__).parents[1]
ASKED = ("Corpus1Key", "Corpus1Term", "NcbiAdminEmail", "NcbiApiKeyName", "AuthSecretName", "AlarmTopicArn")
ISSUER = ("AuthJwksUrl", "AuthIssuer")  # asked where no secret is named
ENDPOINT = "Description: Every tool and resource over MCP"
BUILT = ROOT / ".aws-sam/build/template.yaml"
LATER = "Everything else has a default. To change it, edit parameter_overrides in {path} and run make deploy again."


class _Loader(yaml.SafeLoader):
    """YAML whose tags, CloudFormation's short functions, say nothing here."""


_Loader.add_multi_constructor("!", lambda *_: None)


def template() -> dict[str, Any]:
    """The template, in which what a function of CloudFormation makes is None."""
    loaded: dict[str, Any] = yaml.load((ROOT / "template.yaml").read_text(), _Loader)  # noqa: S506  # a SafeLoader
    return loaded


def parameters() -> dict[str, dict[str, Any]]:
    """The template's parameters by name."""
    known: dict[str, dict[str, Any]] = template()["Parameters"]
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
    """The template with a digest of the parameters in the endpoint's description. Its alias moves to a new version
    when the text of its properties changes, which a parameter's value does not."""
    digest = sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()[:12]
    return template.replace(ENDPOINT, f"{ENDPOINT}, configured as {digest}")


def main() -> None:
    environment, path = sys.argv[1], ROOT / "samconfig.toml"
    if not _overrides_of(environment, path):
        _configure(environment, path)
    BUILT.write_text(stamped(BUILT.read_text(), _overrides_of(environment, path)))


def _overrides_of(environment: str, path: Path) -> Any:
    config = tomlkit.parse(path.read_text()).unwrap()
    return config.get(environment, {}).get("deploy", {}).get("parameters", {}).get("parameter_overrides")


def _configure(environment: str, path: Path) -> None:
    text = path.read_text()
    there = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION", "")
    region = input(f"Region [{there or 'that of the AWS CLI'}]: ").strip() or there
    path.write_text(configured(text, environment, region, asked(parameters(), input)))
    print(f"\n{LATER.format(path=path.name)}")


if __name__ == "__main__":
    main()

"""What the template says once for several functions, tables or corpora, by `Fn::ForEach` of AWS::LanguageExtensions.

CloudFormation unrolls these loops, and so do `sam --language-extensions`, cfn-lint and the emulator. Checkov and the
tests of the template do not: they read what `unrolled` makes.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from scripts.template.blocks import Value

LOOP = "Fn::ForEach::"


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML with CloudFormation's short functions: `!If [a, b]` becomes `{"Fn::If": [a, b]}`."""


def _function(loader: Any, suffix: str, node: yaml.Node) -> dict[str, Any]:
    if isinstance(node, yaml.ScalarNode):
        value: Any = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        value = loader.construct_mapping(node, deep=True)
    return {suffix if suffix in ("Ref", "Condition") else f"Fn::{suffix}": value}


_Loader.add_multi_constructor("!", _function)


def loaded(text: str) -> dict[str, Any]:
    """A template of CloudFormation, its functions as `{"Fn::Name": arguments}`."""
    template: dict[str, Any] = yaml.load(text, _Loader)  # noqa: S506  # a SafeLoader
    return template


def loop(name: str, over: Sequence[str], fragment: Mapping[str, Value], identifier: str = "Id") -> dict[str, Value]:
    """The resources of `fragment`, whose logical ids have `${Id}`, for each of the items."""
    return {LOOP + name: [identifier, f"[{', '.join(over)}]", fragment]}


def unrolled(template: Mapping[str, Any]) -> dict[str, Any]:
    """A template without loops and without what they alone look up."""
    made = {**template, "Transform": "AWS::Serverless-2016-10-31"}
    for section in ("Conditions", "Resources", "Outputs"):
        members: dict[str, Any] = {}
        for key, value in template.get(section, {}).items():
            members |= _each(value, template) if key.startswith(LOOP) else {key: value}
        made[section] = members
    return made


def _each(of: Sequence[Any], template: Mapping[str, Any]) -> dict[str, Any]:
    identifier, items, fragment = of
    return {
        key: _simple(value, identifier, item, template)
        for item in items
        for key, value in _filled(fragment, f"${{{identifier}}}", item).items()
    }


def _filled(value: Any, placeholder: str, item: str) -> Any:
    match value:
        case str():
            return value.replace(placeholder, item)
        case list():
            return [_filled(each, placeholder, item) for each in value]
        case dict():
            return {key.replace(placeholder, item): _filled(each, placeholder, item) for key, each in value.items()}
    return value


def _simple(value: Any, identifier: str, item: str, template: Mapping[str, Any]) -> Any:
    """`value` whose Refs are names, and that looks nothing up."""
    if isinstance(value, list):
        return [_simple(each, identifier, item, template) for each in value]
    if not isinstance(value, dict):
        return value
    match made := {key: _simple(each, identifier, item, template) for key, each in value.items()}:
        case {"Ref": name} if name == identifier:
            return item
        case {"Ref": {"Fn::Sub": name}}:
            return {"Ref": name}
        case {"Fn::GetAtt": [{"Fn::Sub": name}, attribute]}:
            return {"Fn::GetAtt": f"{name}.{attribute}"}
        case {"Fn::FindInMap": [table, first, second]}:
            return template["Mappings"][table][first][second]
        case {"Fn::Sub": [text, {"Name": str(name)}]}:
            return {"Fn::Sub": text.replace("${Name}", name)}
    return made

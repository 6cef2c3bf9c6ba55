"""What `bio_mcp.ports` offers: each port is given by `Backends`, says what it is, and states the law of its methods."""

import ast
import inspect
import pkgutil
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest

from bio_mcp import ports

MODULES = [ports, *(import_module(f"bio_mcp.ports.{each.name}") for each in pkgutil.iter_modules(ports.__path__))]
PUBLIC = {
    name: each
    for module in MODULES
    for name, each in vars(module).items()
    if inspect.isclass(each) and each.__module__ == module.__name__ and not name.startswith("_")
}
# To adapters, to a door, to `call`.
GIVEN_BY_WIRING = {"Authorizations", "Budgets", "Cache", "Functions", "RateLimiter", "Recorder"}
GIVEN_BY_WIRING |= {"LoadFiles", "LoadRuns", "DeadLetters"}


def named(kind):
    """The classes in a type."""
    parts = kind if isinstance(kind, list) else get_args(kind)
    return [kind] if inspect.isclass(kind) and not parts else [found for each in parts for found in named(each)]


def test_every_port_is_given_by_backends():
    declared = [each for each in vars(ports.Backends).values() if isinstance(each, ports.port)]
    given = {port for each in declared for kind in named(each.__orig_class__) for port in kind.__mro__}
    protocols = {each for each in PUBLIC.values() if getattr(each, "_is_protocol", False)}
    assert {each.__name__ for each in protocols - given} == GIVEN_BY_WIRING


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_a_public_name_says_what_it_is(name):
    assert not (PUBLIC[name].__doc__ or f"{name}(").startswith(f"{name}(")  # as dataclasses say it by themselves


PORTS = Path(__file__).parents[2] / "layers/common/bio_mcp/ports"


def unstated(source: str) -> list[str]:
    """The ports and methods of ports in `source` that promise nothing."""
    ports = [
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef) and any(ast.unparse(base) == "Protocol" for base in node.bases)
    ]
    methods = [(port, node) for port in ports for node in port.body if isinstance(node, ast.FunctionDef)]
    return [
        *(port.name for port in ports if not ast.get_docstring(port)),
        *(f"{port.name}.{method.name}" for port, method in methods if not ast.get_docstring(method)),
    ]


@pytest.mark.parametrize("path", sorted(PORTS.glob("*.py")), ids=lambda path: path.stem)
def test_each_port_and_each_of_its_methods_states_its_law(path):
    assert unstated(path.read_text()) == []

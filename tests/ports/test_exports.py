"""What `bio_mcp.ports` offers: every port is given by `Backends`, and every public name says what it is."""

import inspect
import pkgutil
from importlib import import_module
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
GIVEN_BY_WIRING |= {"LoadFiles", "LoadRuns"}


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

"""A port is what its docstrings promise: each port and each of its methods has one."""

import ast
from pathlib import Path

import pytest

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

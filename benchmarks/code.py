"""The shape of the code: `python -m benchmarks code [ROOT ...]` prints a Markdown table, one column a checkout.

Lines of code are neither blank, comment, docstring nor import. An importer counts wherever in a module it imports. A
function's length is from its `def` to its end; its body is its lines without signature, decorators and docstring.
Repeated lines are those in a run of six (stripped, neither blank nor comment) that occurs more than once in the
package. An except swallows when it catches everything and does not raise. Complexity is McCabe's: one, and one more for
each branch, loop, handler, condition and boolean operator. A file with a table of tools is a hand-written one that
names five tools or more.
"""

import ast
import io
import sys
import tokenize
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import mean, median

HERE = Path(__file__).resolve().parents[1]
PACKAGE = "layers/common/bio_mcp"
RUN = 6  # lines
SMALL = 80  # lines; a module of fewer that one sibling imports belongs in that
TINY = 3  # lines of a function that is hardly one
REPLACING = {"monkeypatch.setattr", "monkeypatch.setitem", "mocker.patch"}
PROCESS = {"sys", "socket"}
TABLE = 5  # tools that a file names before it counts as a table of them
Function = ast.FunctionDef | ast.AsyncFunctionDef
BRANCHES = (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.comprehension, ast.match_case)


def sources(folder: Path) -> dict[str, str]:
    """Every module below `folder`, by dotted name within it, with its source."""
    names = {path: ".".join(path.relative_to(folder).with_suffix("").parts) for path in sorted(folder.rglob("*.py"))}
    return {name.removesuffix(".__init__"): path.read_text(encoding="utf-8") for path, name in names.items()}


@cache
def nodes_of(source: str) -> list[ast.AST]:
    """Every node of a module, parsed once."""
    return list(ast.walk(ast.parse(source)))


@cache
def functions(source: str) -> list[Function]:
    return [node for node in nodes_of(source) if isinstance(node, Function)]


def body_lines(function: Function) -> int:
    """Lines of its body, docstring apart."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def complexity(function: Function) -> int:
    nodes = list(ast.walk(function))
    operators = sum(len(node.values) - 1 for node in nodes if isinstance(node, ast.BoolOp))
    conditions = sum(len(node.ifs) for node in nodes if isinstance(node, ast.comprehension))
    return 1 + sum(isinstance(node, BRANCHES) for node in nodes) + operators + conditions


def swallowing(source: str) -> list[ast.ExceptHandler]:
    """Handlers of everything that do not raise."""
    handlers = [node for node in nodes_of(source) if isinstance(node, ast.ExceptHandler)]
    broad = [each for each in handlers if each.type is None or {"Exception", "BaseException"} & _names(each.type)]
    return [each for each in broad if not any(isinstance(node, ast.Raise) for node in ast.walk(each))]


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def repeated(modules: Iterable[str]) -> tuple[int, int]:
    """(lines in a run of `RUN` that occurs more than once, all lines) without blank lines and comments."""
    stripped = [[line.strip() for line in source.splitlines()] for source in modules]
    kept = [[line for line in lines if line and not line.startswith("#")] for lines in stripped]
    runs = Counter(tuple(lines[at : at + RUN]) for lines in kept for at in range(len(lines) - RUN + 1))
    found = 0
    for lines in kept:
        starts = [at for at in range(len(lines) - RUN + 1) if runs[tuple(lines[at : at + RUN])] > 1]
        found += len({line for at in starts for line in range(at, at + RUN)})
    return found, sum(map(len, kept))


def typed(found: Iterable[Function]) -> tuple[float, float]:
    """Shares of arguments and of functions that are annotated."""
    arguments, returns = [], []
    for each in found:
        given = [*each.args.posonlyargs, *each.args.args, *each.args.kwonlyargs, each.args.vararg, each.args.kwarg]
        arguments += [one.annotation is not None for one in given if one and one.arg not in ("self", "cls")]
        returns.append(each.returns is not None)
    return mean(arguments), mean(returns)


def docstring_lines(source: str) -> int:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in nodes_of(source) if isinstance(node, documented)]
    first = [node.body[0] for node in nodes if ast.get_docstring(node) is not None]
    return sum((node.end_lineno or 0) - node.lineno + 1 for node in first)


def comment_lines(source: str) -> int:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return sum(token.type == tokenize.COMMENT for token in tokens)


def code_lines(source: str) -> int:
    """Lines that are neither blank, comment, docstring (of an attribute too) nor import."""
    nodes = [node for node in nodes_of(source) if isinstance(node, ast.stmt)]
    aside = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) or _is_text(node)]
    apart = {line for node in aside for line in range(node.lineno, (node.end_lineno or 0) + 1)}
    lines = [line.strip() for number, line in enumerate(source.splitlines(), 1) if number not in apart]
    return sum(bool(line) and not line.startswith("#") for line in lines)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def length(function: Function) -> int:
    """Lines from its `def` to its end."""
    return (function.end_lineno or 0) - function.lineno + 1


def importers(modules: Mapping[str, str]) -> dict[str, set[str]]:
    """The modules of the package that import each of its modules."""
    found: dict[str, set[str]] = {name: set() for name in modules}
    for name, source in modules.items():
        for each in imported(name, source, modules) & found.keys():
            found[each].add(name)
    return found


def small_with_one_importer(modules: Mapping[str, str]) -> list[str]:
    """Modules of fewer than `SMALL` lines that one module alone imports, a sibling in the same folder: they belong in
    that. A package's `__init__` is neither small nor a sibling."""
    by, packages = importers(modules), {_folder(name) for name in modules}
    siblings = {name: [_folder(each) for each in by[name] - packages] for name in modules.keys() - packages}
    alone = sorted(name for name, folders in siblings.items() if folders == [_folder(name)])
    return [name for name in alone if len(modules[name].splitlines()) < SMALL]


def _folder(name: str) -> str:
    return name.rpartition(".")[0]


def imported(name: str, source: str, modules: Mapping[str, str]) -> set[str]:
    """The modules of the package that `name` imports, anywhere in it."""
    found = set()
    for node in nodes_of(source):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "bio_mcp":
            home = (node.module or "").removeprefix("bio_mcp").removeprefix(".")
            inner = {each.name: f"{home}.{each.name}".removeprefix(".") for each in node.names}
            found |= {inner[each] if inner[each] in modules else home for each in inner}
    return found - {name, ""}


def circles(modules: Mapping[str, str]) -> list[set[str]]:
    """The sets of modules that import each other, by whatever way round."""
    arrows = {name: imported(name, source, modules) for name, source in modules.items()}
    reach = {name: set(_reached(name, arrows)) for name in arrows}
    found = {frozenset(each for each in reach[name] if name in reach[each]) for name in arrows if name in reach[name]}
    return [set(each) for each in found]


def _reached(start: str, arrows: Mapping[str, set[str]]) -> Iterator[str]:
    seen, waiting = set[str](), [*arrows[start]]
    while waiting:
        name = waiting.pop()
        if name in seen or name not in arrows:
            continue
        seen.add(name)
        waiting += arrows[name]
        yield name


def patches(source: str) -> list[str]:
    """Imports of mocks, and attributes and items that a test replaces, but for those of the process: sys, sockets."""
    if not any(word in source for word in ("mock", "monkeypatch")):  # most have none, and need not be parsed
        return []
    nodes = nodes_of(source)
    calls = [each for each in nodes if isinstance(each, ast.Call) and ast.unparse(each.func) in REPLACING]
    replaced = [ast.unparse(each.args[0]) for each in calls]
    mocks = [each for each in nodes if isinstance(each, ast.Import | ast.ImportFrom) and "mock" in _words(each)]
    return [ast.unparse(each) for each in mocks] + [each for each in replaced if each.split(".")[0] not in PROCESS]


def _words(node: ast.Import | ast.ImportFrom) -> set[str]:
    home = node.module or "" if isinstance(node, ast.ImportFrom) else ""
    return {word for each in node.names for word in f"{home}.{each.name}".split(".")}


def tables(root: Path, tools: Sequence[str]) -> list[str]:
    """The hand-written files that name tools in a table, beside those that declare them."""
    files = [*root.glob("layers/common/bio_mcp/**/*.py"), *root.glob("tests/**/*.py"), root / "template.yaml"]
    beside = [path for path in files if not path.is_relative_to(root / PACKAGE / "tools")]
    texts = {str(path.relative_to(root)): path.read_text(encoding="utf-8") for path in beside}
    return sorted(name for name, text in texts.items() if sum(f'"{each}"' in text for each in tools) >= TABLE)


def tool_names(modules: Mapping[str, str]) -> list[str]:
    """The first argument of each `@tool(...)`."""
    calls = [node for source in modules.values() for node in nodes_of(source) if isinstance(node, ast.Call)]
    named = [each.args[0] for each in calls if isinstance(each.func, ast.Name) and each.func.id == "tool" and each.args]
    return [str(each.value) for each in named if isinstance(each, ast.Constant)]


def spread(values: Iterable[int]) -> str:
    """Median, 90th percentile and most."""
    ordered = sorted(values)
    return f"{median(ordered):.0f} / {ordered[int(len(ordered) * 0.9)]} / {ordered[-1]}"


def measures(root: Path) -> dict[str, str]:
    """Each measure of the checkout by its name."""
    modules, tests = sources(root / PACKAGE), sources(root / "tests")
    found = [each for source in modules.values() for each in functions(source)]
    lines = {name: len(source.splitlines()) for name, source in modules.items()}
    complex_, (twice, kept) = list(map(complexity, found)), repeated(modules.values())
    arguments, returns = typed(found)
    single = [name for name, by in importers(modules).items() if len(by) == 1]
    return {
        "modules": f"{len(modules)}",
        "lines": f"{sum(lines.values()):,}",
        "lines of code": f"{sum(map(code_lines, modules.values())):,}",
        "modules with one importer": f"{len(single)}",
        f"of them below {SMALL} lines, imported by a sibling": f"{len(small_with_one_importer(modules))}",
        f"functions; of {TINY} lines or less": f"{len(found):,}; {sum(length(each) <= TINY for each in found):,}",
        "lines of tests": f"{sum(len(each.splitlines()) for each in tests.values()):,}",
        "lines of a module, median / p90 / most": spread(lines.values()),
        "lines of a function's body, median / p90 / most": spread(map(body_lines, found)),
        "functions of complexity over 10; mean": f"{mean(n > 10 for n in complex_):.1%}; {mean(complex_):.2f}",
        "excepts that swallow everything": str(sum(len(swallowing(source)) for source in modules.values())),
        "lines repeated in runs of six": f"{twice / kept:.2%}",
        "circles of imports": str(len(circles(modules))),
        "arguments / returns with a type": f"{arguments:.1%} / {returns:.1%}",
        "lines of comments / docstrings": f"{_share(modules, comment_lines)} / {_share(modules, docstring_lines)}",
        "places where tests patch": str(sum(len(patches(each)) for each in tests.values())),
        "files with a table of tools": str(len(tables(root, tool_names(modules)))),
    }


def _share(modules: Mapping[str, str], count: Callable[[str], int]) -> str:
    """Of the lines that are not blank."""
    filled = sum(bool(line.strip()) for source in modules.values() for line in source.splitlines())
    return f"{sum(map(count, modules.values())) / filled:.1%}"


def main(roots: Sequence[str]) -> None:
    columns = {Path(root).resolve(): measures(Path(root).resolve()) for root in roots or [str(HERE)]}
    print("| measure | " + " | ".join(root.name if len(columns) > 1 else "figure" for root in columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for measure in next(iter(columns.values())):
        print(f"| {measure} | " + " | ".join(each[measure] for each in columns.values()) + " |")


if __name__ == "__main__":
    main(sys.argv[1:])

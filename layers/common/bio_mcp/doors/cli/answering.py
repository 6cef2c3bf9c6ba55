"""`bio-mcp answer`: a question answered by sentences of papers, and answers that were given before."""

from collections.abc import Mapping
from typing import Any

import click
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering, arguments_of, options_of
from bio_mcp.doors.cli.papers import flag
from bio_mcp.doors.cli.session import Session
from bio_mcp.literature.clock import instant
from bio_mcp.ports.answers import StoredAnswer
from bio_mcp.tools.answer import rag_answer

OPTIONS = {
    "lang": "language of the question",
    "journals": "this NLM id or full title; repeat for more",
    "publication_types": "this MeSH id or name, e.g. meta-analysis; repeat for more",
}


@click.command("answer")
@click.argument("question", nargs=-1, metavar="QUESTION")
@click.option("--show", "answer_id", metavar="ID", help="Show the answer of this id as it was given, and its flags.")
@options_of(rag_answer, helps=OPTIONS)
@answering
def answer_command(session: Session, /, question: tuple[str, ...], answer_id: str | None, **given: Any) -> None:
    """Answer QUESTION from the corpus, by sentences of its papers quoted word for word; or show an earlier answer."""
    if bool(question) == bool(answer_id):
        raise click.UsageError("give a QUESTION, or --show and the ID of an answer")
    if answer_id:
        session.answer(as_json(session.own.answers.get(answer_id)), render_stored)
    else:
        arguments = arguments_of(rag_answer, {**given, "question": " ".join(question)})
        session.answer(session.ask(rag_answer, arguments), render)


def as_json(stored: StoredAnswer) -> dict[str, Any]:
    """A stored answer as JSON."""
    return {
        "answer_id": stored.answer_id,
        "question": stored.question,
        "answer": stored.text,
        "citations": [
            {"id": f"pmid:{each.pmid}", "version": each.version, "span": each.where, "quote": each.quote}
            for each in stored.spans
        ],
        "answer_conf": stored.confidence,
        "asked": instant(stored.asked),
        "retracted_since": [f"pmid:{pmid}" for pmid in stored.flagged],
    }


def render(body: Mapping[str, Any]) -> None:
    """Print the answer or why it is withheld, then the citations and the scores."""
    if body["withheld"]:
        terminal.say(Text.assemble(("Withheld: ", "bold yellow"), body["reason"], "."))
    else:
        terminal.say(body["answer"])
    cited = [_citation(number, each) for number, each in enumerate(body["citations"], 1)]
    if cited:
        terminal.show("", *cited)
    for part in body.get("parts", ()):
        terminal.say(f"on {part['part']}: confidence {part['answer_conf']:.2f}")
    scores = body["scores"]
    confidence = f"confidence {scores['answer_conf']:.2f}, answers are given from {body['tau']:.2f}"
    terminal.say(terminal.styled(f"{confidence}; {body['mode']}; answer {body['answer_id']}", "dim"))
    for warning in body["warnings"]:
        terminal.warn(warning)


def _citation(number: int, each: Mapping[str, Any]) -> RenderableType:
    title = Text.assemble(f"[{number}] ", *flag(each["retraction"]), (each["title"], "bold"))
    where = f"PMID {each['id'].removeprefix('pmid:')}, {each['span']}, relevant with {each['relevance']:.2f}"
    lines = (Text(each["quote"]), Text(where, style="italic"))
    return Group(title, *(Padding(line, (0, 0, 0, 4), expand=False) for line in lines))


def render_stored(body: Mapping[str, Any]) -> None:
    """Print an answer as it was given, and which of its papers were retracted since."""
    terminal.say(Text(body["question"], style="bold"), body["answer"] or "Withheld.", "")
    for number, each in enumerate(body["citations"], 1):
        where = f"PMID {each['id'].removeprefix('pmid:')}, version {each['version']}, {each['span']}"
        terminal.show(f"[{number}] {each['quote']}", Padding(Text(where, style="italic"), (0, 0, 0, 4), expand=False))
    terminal.say(terminal.styled(f"given {body['asked']} with confidence {body['answer_conf']:.2f}", "dim"))
    for doc_id in body["retracted_since"]:
        terminal.warn(f"PMID {doc_id.removeprefix('pmid:')}, which it cites, was retracted since.")

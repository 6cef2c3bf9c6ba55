"""Converse and Rerank of Amazon Bedrock, by the service's own description of their requests and answers."""

import json

import pytest
from botocore.stub import Stubber

from bio_mcp.adapters.aws.bedrock import BedrockLanguageModel, BedrockReranker
from bio_mcp.adapters.aws.clients import Clients
from bio_mcp.adapters.retry import Backoff
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import DeadlineExceeded, UpstreamFailed

pytestmark = pytest.mark.usefixtures("nobody")
CLIENTS = Clients()
RERANKER = "arn:aws:bedrock:eu-west-1::foundation-model/cohere.rerank-v3-5:0"


def answered(*texts, stop="end_turn"):
    return {
        "output": {"message": {"role": "assistant", "content": [{"text": each} for each in texts]}},
        "stopReason": stop,
        "usage": {"inputTokens": 12, "outputTokens": 5, "totalTokens": 17},
        "metrics": {"latencyMs": 1},
    }


class Bedrock:
    """Clients whose answers a test prepares; `configs` are those they were made with, `sent` what they were asked."""

    def __init__(self):
        self.configs, self.sent, self.answers, self.pauses = [], [], [], []

    def make(self, service, config):
        self.configs.append(config)
        client = CLIENTS.make(service, config=config)
        client.meta.events.register("provide-client-params", lambda params, **_: self.sent.append(params))
        stubber = Stubber(client)
        for each in self.answers:
            operation = "converse" if service == "bedrock-runtime" else "rerank"
            if isinstance(each, str):
                stubber.add_client_error(operation, each, "arn:aws:bedrock:us-east-1:123456789012:secret")
            else:
                stubber.add_response(operation, each)
        stubber.activate()
        return client

    def model(self, *answers, **options):
        self.answers = answers
        backoff = Backoff(tries=3, rng=lambda: 0.5, sleep=self.pauses.append)
        return BedrockLanguageModel("a-model", backoff=backoff, make=self.make, **options)

    def scores(self, answer, deadline=NEVER, **options):
        self.answers = [answer if isinstance(answer, str) else {"results": answer}]
        reranker = BedrockReranker(RERANKER, make=self.make, **options)
        return reranker.scores("Does it help?", ["Pain fell.", ""], deadline)


def ask(model, deadline=NEVER):
    return model.generate("Does it help?", ["Pain fell."], deadline)


def test_question_and_passages_are_sent_at_temperature_0():
    bedrock = Bedrock()
    generated = ask(bedrock.model(answered("Pain ", "fell [1].")))
    assert (generated.text, generated.input_tokens, generated.output_tokens) == ("Pain fell [1].", 12, 5)
    [sent] = bedrock.sent
    assert sent["inferenceConfig"]["temperature"] == 0
    assert "guardrailConfig" not in sent
    [message] = sent["messages"]
    assert json.loads(message["content"][0]["text"])["passages"] == [{"number": 1, "text": "Pain fell."}]


def test_a_guardrail_is_named_and_what_it_holds_back_is_a_failure():
    bedrock = Bedrock()
    with pytest.raises(UpstreamFailed, match="guardrail") as failed:
        ask(bedrock.model(answered("Sorry.", stop="guardrail_intervened"), guardrail="arn:aws:bedrock:x:gr:3"))
    assert not failed.value.retryable
    assert bedrock.sent[0]["guardrailConfig"] == {
        "guardrailIdentifier": "arn:aws:bedrock:x:gr",
        "guardrailVersion": "3",
    }


def test_the_region_and_the_time_left_are_those_of_the_request():
    bedrock = Bedrock()
    ask(bedrock.model(answered("Yes [1]."), region="eu-west-1", seconds=7.5))
    [config] = bedrock.configs
    assert (config.region_name, config.read_timeout, config.retries["total_max_attempts"]) == ("eu-west-1", 7, 1)


def test_a_model_that_is_busy_is_asked_again():
    bedrock = Bedrock()
    assert ask(bedrock.model("ThrottlingException", "ModelNotReadyException", answered("Yes [1]."))).text == "Yes [1]."
    assert len(bedrock.pauses) == 2


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("AccessDeniedException", "access to it in Bedrock"),
        ("ResourceNotFoundException", "BIO_MCP_LLM_REGION"),
        ("ValidationException", "BIO_MCP_LLM_MODEL"),
        ("SomethingNew", "refused"),
    ],
)
def test_a_refusal_says_what_to_check_and_repeats_nothing_of_it(code, says):
    bedrock = Bedrock()
    with pytest.raises(UpstreamFailed, match=says) as failed:
        ask(bedrock.model(code))
    assert "arn:" not in str(failed.value)
    assert (failed.value.retryable, bedrock.pauses) == (False, [])


def test_a_service_that_cannot_be_reached_is_an_upstream_failure():
    pauses = []
    model = BedrockLanguageModel(
        "a-model",
        backoff=Backoff(tries=2, sleep=pauses.append),
        make=lambda service, config: CLIENTS.make(service, config, "http://127.0.0.1:9"),
    )
    with pytest.raises(UpstreamFailed, match="could not be reached") as failed:
        ask(model)
    assert failed.value.retryable
    assert len(pauses) == 1


def test_an_answer_of_other_content_than_text_is_empty():
    content = {"output": {"message": {"role": "assistant", "content": []}}}
    assert ask(Bedrock().model(answered() | content)).text == ""


def test_a_call_without_time_asks_nobody():
    bedrock = Bedrock()
    with pytest.raises(DeadlineExceeded):
        ask(bedrock.model(), Deadline(0))
    with pytest.raises(DeadlineExceeded):
        bedrock.scores([], Deadline(0))
    assert bedrock.configs == []


def test_the_fingerprint_changes_with_model_region_and_guardrail():
    models = [Bedrock().model(**options) for options in ({}, {"region": "eu-west-1"}, {"guardrail": "a:1"})]
    assert len({each.fingerprint for each in models}) == 3
    assert BedrockReranker(RERANKER).fingerprint == "bedrock/cohere.rerank-v3-5:0"  # without the account


def test_scores_are_in_the_order_of_the_passages():
    bedrock = Bedrock()
    answer = [{"index": 1, "relevanceScore": 0.25}, {"index": 0, "relevanceScore": 0.5}]
    assert bedrock.scores(answer, patience_s=3.5) == [0.5, 0.25]
    [sent] = bedrock.sent
    assert sent["queries"] == [{"type": "TEXT", "textQuery": {"text": "Does it help?"}}]
    assert [each["inlineDocumentSource"]["textDocument"]["text"] for each in sent["sources"]] == ["Pain fell.", " "]
    of_model = sent["rerankingConfiguration"]["bedrockRerankingConfiguration"]
    assert of_model == {"modelConfiguration": {"modelArn": RERANKER}, "numberOfResults": 2}
    assert bedrock.configs[0].read_timeout == 3


@pytest.mark.parametrize(
    ("answer", "retryable", "says"),
    [
        ("ThrottlingException", True, "busy"),
        ("AccessDeniedException", False, "may not use the reranker"),
        ("Other", False, "refused"),
        ([{"index": 0, "relevanceScore": 0.5}], True, "no score for every passage"),
    ],
)
def test_passages_without_scores_are_a_failure_that_names_nothing_of_the_account(answer, retryable, says):
    with pytest.raises(UpstreamFailed, match=says) as failed:
        Bedrock().scores(answer)
    assert failed.value.retryable is retryable
    assert "123456789012" not in str(failed.value)

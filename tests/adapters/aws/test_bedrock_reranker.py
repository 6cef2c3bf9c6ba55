"""Rerank of Amazon Bedrock, by the service's own description of its requests and answers."""

import pytest
from botocore.stub import Stubber

from bio_mcp.adapters.aws.bedrock_reranker import BedrockReranker
from bio_mcp.adapters.aws.clients import Clients
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import DeadlineExceeded, UpstreamFailed

pytestmark = pytest.mark.usefixtures("nobody")
CLIENTS = Clients()
MODEL = "arn:aws:bedrock:eu-west-1::foundation-model/cohere.rerank-v3-5:0"
PASSAGES = ["Pain fell.", ""]


class Bedrock:
    """Clients whose answer a test prepares; `configs` are those they were made with, `sent` what they were asked."""

    def __init__(self, answer):
        self.answer, self.configs, self.sent = answer, [], []

    def make(self, service, config):
        self.configs.append(config)
        client = CLIENTS.make(service, config=config)
        client.meta.events.register("provide-client-params", lambda params, **_: self.sent.append(params))
        stubber = Stubber(client)
        if isinstance(self.answer, str):
            stubber.add_client_error("rerank", self.answer, "arn:aws:iam::123456789012:role/secret")
        else:
            stubber.add_response("rerank", {"results": self.answer})
        stubber.activate()
        return client

    def scores(self, deadline=NEVER, **options):
        return BedrockReranker(self.make, MODEL, **options).scores("Does it help?", PASSAGES, deadline)


def test_scores_are_in_the_order_of_the_passages():
    bedrock = Bedrock([{"index": 1, "relevanceScore": 0.25}, {"index": 0, "relevanceScore": 0.5}])
    assert bedrock.scores(patience_s=3.5) == [0.5, 0.25]
    [sent] = bedrock.sent
    assert sent["queries"] == [{"type": "TEXT", "textQuery": {"text": "Does it help?"}}]
    assert [each["inlineDocumentSource"]["textDocument"]["text"] for each in sent["sources"]] == ["Pain fell.", " "]
    of_model = sent["rerankingConfiguration"]["bedrockRerankingConfiguration"]
    assert of_model == {"modelConfiguration": {"modelArn": MODEL}, "numberOfResults": 2}
    assert bedrock.configs[0].read_timeout == 3


@pytest.mark.parametrize(
    ("code", "retryable"), [("ThrottlingException", True), ("AccessDeniedException", False), ("Other", False)]
)
def test_an_error_says_what_to_do_and_nothing_of_the_account(code, retryable):
    with pytest.raises(UpstreamFailed) as failed:
        Bedrock(code).scores()
    assert failed.value.retryable is retryable
    assert "123456789012" not in str(failed.value)


def test_an_answer_without_a_score_for_each_passage_is_a_failure():
    with pytest.raises(UpstreamFailed, match="no score for every passage"):
        Bedrock([{"index": 0, "relevanceScore": 0.5}]).scores()


def test_out_of_time_nothing_is_asked():
    bedrock = Bedrock([])
    with pytest.raises(DeadlineExceeded):
        bedrock.scores(Deadline(0))
    assert bedrock.configs == []


def test_the_fingerprint_is_the_model_s_name_without_the_account():
    assert BedrockReranker(Bedrock([]).make, MODEL).fingerprint == "bedrock/cohere.rerank-v3-5:0"

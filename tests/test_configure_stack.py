"""What `make deploy` asks the first time, and what it makes of the answers."""

import tomllib

import pytest

from scripts.configure_stack import (
    ASKED,
    ISSUER,
    Unusable,
    asked,
    check_names,
    configured,
    overrides,
    parameters,
    read,
    stamped,
)
from scripts.docs import ROOT
from tests.support.aws_template import FUNCTIONS, IMAGES, TEMPLATE, rendered, text

SAMCONFIG = (ROOT / "samconfig.toml").read_text()
TERM = 'statins[tiab] AND "heart failure"[mesh]'


class Person:
    """Answers by the name that a question ends with, and remembers the questions."""

    def __init__(self, **answers):
        self.answers = {name: [answer] if isinstance(answer, str) else answer for name, answer in answers.items()}
        self.heard = []

    def __call__(self, question):
        self.heard.append(question)
        answers = self.answers.get(question.split()[-1].rstrip(":"), [""])
        return answers.pop(0) if len(answers) > 1 else answers[0]


def test_it_asks_little_and_says_what_each_answer_is_for():
    person = Person(AuthSecretName="bio-mcp/auth", Corpus1Term=TERM)
    assert asked(parameters(), person) == {"AuthSecretName": "bio-mcp/auth", "Corpus1Term": TERM}
    assert len(person.heard) == len(ASKED) < 10
    assert all(
        TEMPLATE["Parameters"][name]["Description"] in message
        for name, message in zip(ASKED, person.heard, strict=True)
    )


def test_who_names_no_secret_is_asked_for_an_issuer():
    person = Person(AuthJwksUrl="https://id.example.org/keys", AuthIssuer="https://id.example.org")
    assert set(asked(parameters(), person)) == set(ISSUER)


def test_an_answer_that_the_template_would_refuse_is_asked_for_again(capsys):
    person = Person(AuthSecretName="a", Corpus1Term=[r"\"heart failure\"", '"heart failure"'])
    assert asked(parameters(), person)["Corpus1Term"] == '"heart failure"'
    assert "no backslashes" in capsys.readouterr().out


@pytest.mark.parametrize(("config", "stack"), [("default", "bio-mcp"), ("second", "bio-mcp-second")])
def test_answers_become_parameters_of_a_stack_of_its_own(config, stack):
    written = tomllib.loads(configured(SAMCONFIG, config, "eu-west-1", {"Corpus1Key": "k", "Corpus1Term": TERM}))
    deploy = written[config]["deploy"]["parameters"]
    assert written[config]["global"]["parameters"]["stack_name"] == stack
    assert (deploy["region"], deploy["resolve_s3"], deploy["capabilities"]) == ("eu-west-1", True, "CAPABILITY_IAM")
    assert deploy["parameter_overrides"] == [
        'Corpus1Key="k"',
        r'Corpus1Term="statins[tiab] AND \"heart failure\"[mesh]"',
    ]
    assert written["local"] == tomllib.loads(SAMCONFIG)["local"]


def test_every_parameter_is_described_and_in_one_group():
    groups = TEMPLATE["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]
    grouped = [name for group in groups for name in group["Parameters"]]
    assert sorted(grouped) == sorted(TEMPLATE["Parameters"])
    assert all(len(each["Description"]) > 20 for each in TEMPLATE["Parameters"].values())


@pytest.mark.parametrize("number", "123")
def test_a_corpus_is_not_deployed_without_an_address_for_ncbi(number):
    rule, none = TEMPLATE["Rules"]["CorpusAndContact"], dict.fromkeys(TEMPLATE["Parameters"], "")
    [contact] = rule["Assertions"]
    assert rendered(rule["RuleCondition"], none | {f"Corpus{number}Key": "statins"})
    assert not rendered(rule["RuleCondition"], none)
    assert not rendered(contact["Assert"], none)
    assert rendered(contact["Assert"], none | {"NcbiAdminEmail": "me@example.org"})
    assert "retracted papers" in contact["AssertDescription"]


def test_another_value_of_a_parameter_is_another_text_of_what_is_published_and_of_nothing_else():
    template = (ROOT / "template.yaml").read_text()
    one, same, other = (stamped(template, [f'AllowedOrigins="{each}"']) for each in "aab")
    assert one == same != other
    changed = [line for line, before in zip(one.splitlines(), template.splitlines(), strict=True) if line != before]
    published = [each["Description"] for _, each in FUNCTIONS.values() if "AutoPublishAlias" in each]
    assert sorted(line.split(", configured as ")[0].strip() for line in changed) == sorted(
        f"Description: {each}" for each in published
    )


WRITTEN = {"Corpus1Term": TERM, "NcbiAdminEmail": "o'brien@example.org", "AlarmTopicArn": "", "Corpus2Key": "k"}


@pytest.mark.parametrize("written", [list(overrides(WRITTEN)), " ".join(overrides(WRITTEN)), WRITTEN])
def test_parameters_are_read_as_they_were_written_a_list_a_text_or_a_table(written):
    assert read(written) == WRITTEN


def test_a_parameter_without_quotation_marks_is_read_and_one_whose_value_has_blanks_is_refused():
    assert read(["Monitoring=basic"]) == {"Monitoring": "basic"}
    with pytest.raises(Unusable, match="'AND' among parameter_overrides"):
        read(["Corpus1Term=statins AND aspirin"])


def test_a_stacks_name_is_refused_where_a_function_of_it_would_have_none_on_lambda():
    names = [text(each["FunctionName"]) for _, each in FUNCTIONS.values()]
    names += [text(each["FunctionName"]) for each in IMAGES.values()]
    longest = max(len(each.replace("${AWS::StackName}", "")) for each in names)
    check_names("a" * (64 - longest))
    with pytest.raises(Unusable, match=f"may have {64 - longest} characters"):
        check_names("a" * (65 - longest))

"""The state machine of bulk loads, by the schema of the States Language that cfn-lint has."""

import json
import subprocess

import pytest

from tests.emulated.build import SAM
from tests.test_load_machine import definition

LINT = SAM.with_name("cfn-lint")
ROLE = "arn:aws:iam::123456789012:role/any"


def without_a_target(machine):
    del machine["States"]["Survey"]["Next"]


def with_another_kind(machine):
    machine["States"]["Load"]["ItemProcessor"]["States"]["Pause"]["Type"] = "Sleep"


def with_a_wrong_retry(machine):
    machine["States"]["Plan"]["Retry"][0]["MaxAttempts"] = "many"


BROKEN = {"Targetless": without_a_target, "OfAnotherKind": with_another_kind, "Untried": with_a_wrong_retry}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """The resources in which cfn-lint finds something, of a template with the machine and what is broken of it."""
    machines = {"Whole": definition()}
    for name, breaking in BROKEN.items():
        breaking(machines.setdefault(name, definition()))
    template = tmp_path_factory.mktemp("lint") / "template.json"
    made = {name: {"RoleArn": ROLE, "Definition": each} for name, each in machines.items()}
    kind = "AWS::StepFunctions::StateMachine"
    template.write_text(json.dumps({"Resources": {name: {"Type": kind, "Properties": made[name]} for name in made}}))
    command = [LINT, "--region", "eu-central-1", "--format", "json", "-t", template]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return {each["Location"]["Path"][1] for each in json.loads(done.stdout) if each["Rule"]["Id"] == "E3601"}


def test_the_definition_is_in_the_states_language_and_one_that_is_not_would_be_seen(found):
    assert found == BROKEN.keys()

"""The schedules of a deployed stack."""

from datetime import UTC, datetime, timedelta


def scheduled(stack, query_key):
    """The schedule of this stack for a query, as `get_schedule` describes it."""
    schedules, queue = stack.client("scheduler"), stack.outputs["WorkQueueUrl"].rpartition("/")[2]
    every = [schedules.get_schedule(Name=each["Name"]) for each in schedules.list_schedules()["Schedules"]]
    own = [each for each in every if each["Target"]["Arn"].endswith(f":{queue}")]
    [found] = [each for each in own if f'"{query_key}"' in each["Target"].get("Input", "")]
    return found


def once(schedules, schedule):
    """A schedule like the template's, target, role and input, that fires in a moment and never again."""
    moment = datetime.now(UTC) + timedelta(seconds=2)
    schedules.create_schedule(
        Name="once",
        ScheduleExpression=f"at({moment:%Y-%m-%dT%H:%M:%S})",
        FlexibleTimeWindow={"Mode": "OFF"},
        ActionAfterCompletion="DELETE",
        Target=schedule["Target"],
    )

"""Validation against JSON Schema, each schema checked once: `jsonschema.validate` checks it at every call."""

import json
from functools import cache

import jsonschema


@cache
def _validator(schema):
    loaded = json.loads(schema)
    kind = jsonschema.validators.validator_for(loaded)
    kind.check_schema(loaded)
    return kind(loaded)


def validate(value, schema):
    """Raise `jsonschema.ValidationError` unless `value` is valid."""
    error = jsonschema.exceptions.best_match(_validator(json.dumps(schema)).iter_errors(value))
    if error is not None:
        raise error

"""People who may sign in: their invitations, and what is open in their name."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from bio_mcp.callers import Caller
from bio_mcp.doors.auth.secrets import hashed, new_secret, owner_of
from bio_mcp.doors.auth.sessions import SESSION, caller_in
from bio_mcp.errors import InvalidInput
from bio_mcp.literature.clock import utc_now
from bio_mcp.ports.authorizations import Authorization, Authorizations

INVITATION, PERSON, GRANT = "invitation", "person", "grant"
PEOPLE = "people"
REMEMBERED = timedelta(days=400)  # longer than any grant
NAME = re.compile(r"[\w.@+-]{1,64}")


@dataclass(frozen=True)
class People:
    """People by tenant and subject. Every method may raise `StoreFailed`."""

    authorizations: Callable[[], Authorizations]
    now: Callable[[], datetime] = utc_now

    def invite(self, person: Caller, lifetime: timedelta) -> str:
        """A code that signs the person in, once, within `lifetime`. Raises `InvalidInput` for an unfit name."""
        if not NAME.fullmatch(person.subject) or not (NAME.fullmatch(person.tenant) or not person.tenant):
            raise InvalidInput("a subject and a tenant are 1 to 64 letters, digits and . _ @ + -")
        if not person.scopes:
            raise InvalidInput("an invitation needs a scope: --scopes")
        code = new_secret()
        self._put(PERSON, owner_of(person), PEOPLE, REMEMBERED, person)
        self._put(INVITATION, hashed(code), owner_of(person), lifetime, person)
        return code

    def invited(self, code: str) -> Caller | None:
        """Whom the code signs in; None for one that is used, too old or none."""
        found = self.authorizations().get(INVITATION, hashed(code))
        return caller_in(found) if found else None

    def accept(self, code: str) -> Caller | None:
        """Whom the code signs in, and use it up."""
        found = self.authorizations().take(INVITATION, hashed(code))
        return caller_in(found) if found else None

    def everyone(self) -> list[Caller]:
        """Who was invited, with what the last invitation allowed, by tenant and subject."""
        found = [caller_in(each) for each in self.authorizations().of(PERSON, PEOPLE)]
        return sorted(found, key=lambda each: (each.tenant, each.subject))

    def open_for(self, person: Caller) -> dict[str, list[Authorization]]:
        """The invitations, sessions and grants of a person, by kind."""
        owner = owner_of(person)
        return {kind: self.authorizations().of(kind, owner) for kind in (INVITATION, SESSION, GRANT)}

    def end(self, person: Caller, beginning: str) -> int:
        """End those of them whose key begins so; returns how many there were."""
        every = [each for found in self.open_for(person).values() for each in found]
        ended = [each for each in every if each.key.startswith(beginning)]
        for each in ended:
            self.authorizations().take(each.kind, each.key)
            self.authorizations().revoke(each.key)  # the codes and refresh tokens of a grant
        return len(ended)

    def revoke(self, person: Caller) -> int:
        """End all of them; returns how many there were. Access tokens end with their time, a quarter of an hour."""
        self.authorizations().take(PERSON, owner_of(person))
        return self.authorizations().revoke(owner_of(person))

    def _put(self, kind: str, key: str, owner: str, lifetime: timedelta, person: Caller) -> None:
        content = {"subject": person.subject, "scopes": sorted(person.scopes), "tenant": person.tenant}
        self.authorizations().put(Authorization(kind, key, owner, self.now() + lifetime, content))

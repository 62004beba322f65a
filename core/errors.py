"""Errors whose message is written for the person who caused them."""


class UserError(Exception):
    """A message for the person: what happened, where, what to do. Pages show it, commands print it."""


class GoneError(Exception):
    """What is worked on was deleted meanwhile: the same for a person, but no form or page of it can be shown again."""

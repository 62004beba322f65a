"""Errors whose message is written for the person who caused them."""


class UserError(Exception):
    """Carry a message for the person: what happened, where, what to do. Pages show it, commands print it."""


class TooLargeError(UserError):
    """Say that what was sent is too large; the API answers 413."""


class GoneError(Exception):
    """Say that the object of a request was deleted meanwhile: no form or page of it can be shown again."""

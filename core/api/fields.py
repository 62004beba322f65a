"""Fields of requests whose errors say what may be sent."""

from typing import Any, NoReturn

from django.utils.translation import gettext as _
from rest_framework import serializers


class Choice(serializers.ChoiceField):
    """One of a few words; the error names them."""

    def fail(self, key: str, **about: Any) -> NoReturn:
        if key != "invalid_choice":
            super().fail(key, **about)
        words = _('"{input}" is not valid: send one of {choices}.')
        message = words.format(input=about["input"], choices=", ".join(map(str, self.choices)))
        raise serializers.ValidationError(message, code=key)

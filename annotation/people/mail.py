"""Send e-mail if the site has it set up; nothing depends on its arrival."""

import logging
from typing import Any

from django.conf import settings
from django.core.mail import send_mail
from django.template.loader import render_to_string

logger = logging.getLogger(__name__)


def send(to: str, template: str, context: dict[str, Any]) -> bool:
    """Send a rendered text whose first line is the subject; return whether the mail server took it."""
    if not (settings.EMAIL_IS_SET and to):
        return False
    subject, _, body = render_to_string(template, context).strip().partition("\n")
    try:
        return send_mail(subject.strip(), body.strip() + "\n", None, [to]) == 1
    except OSError as error:  # smtplib raises it too; the address does not belong in the log
        logger.error("an e-mail could not be sent: %s", type(error).__name__)
        return False

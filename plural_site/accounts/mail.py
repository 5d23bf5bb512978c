"""E-mail, where a server for it is configured. Sent beside the request, so that no page waits or tells."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor

from django.conf import settings
from django.core.mail import EmailMessage

logger = logging.getLogger(__name__)

outgoing = ThreadPoolExecutor(max_workers=1, thread_name_prefix="mail")


def is_configured() -> bool:
    return bool(settings.EMAIL_HOST)


def send_later(*, to: str, subject: str, text: str) -> None:
    outgoing.submit(_send, EmailMessage(subject=subject, body=text, to=[to]))


def do_nothing_later() -> None:
    """Takes as long as `send_later`, as far as the caller can tell."""
    outgoing.submit(lambda: None)


def _send(message: EmailMessage) -> None:
    try:
        message.send()
    except Exception:  # the thread must live on, whatever the server says
        logger.exception("An e-mail could not be sent")

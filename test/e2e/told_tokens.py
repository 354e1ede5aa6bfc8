"""Tokens that crossed the wire in either direction during a test. None of them may appear in the server's
output: the log, the metrics, stdout. Tests need not register them: the wire does."""

import re

_IN_REQUEST = re.compile(rb"(?i)bearer[ .]+([A-Za-z0-9_\-]{20,})")
_IN_ANSWER = re.compile(rb'"(?:auth_token|platform_inbound_secret|grant)" ?: ?"([^"]+)"')
_HEAD = 16 * 1024

_told = set()


def remember(token):
    _told.add(token)
    return token


def remember_sent(data):
    _told.update(found.decode() for found in _IN_REQUEST.findall(bytes(data[:_HEAD])))


def remember_received(data):
    _told.update(found.decode() for found in _IN_ANSWER.findall(bytes(data[:_HEAD])))


def assert_untold(text, where):
    """Fails, without printing the token, if the text contains one of them."""
    for token in _told:
        at = text.find(token)
        if at >= 0:
            around = text[max(0, at - 200):at] + "<TOKEN>" + text[at + len(token):at + len(token) + 100]
            raise AssertionError(f"a token reached {where}:\n{around}")

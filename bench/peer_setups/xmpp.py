"""As much of an XMPP client as it takes to ask for upload slots (XEP-0363)."""

import base64
import html
import re
import socket

from .peer import NotPossible

STREAM = ("<?xml version='1.0'?><stream:stream to='{host}' xmlns='jabber:client' "
          "xmlns:stream='http://etherx.jabber.org/streams' version='1.0'>")
AUTH = "<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>{secret}</auth>"
BIND = "<iq type='set' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></iq>"
REQUEST = ("<iq type='get' to='{component}' id='slot'><request xmlns='urn:xmpp:http:upload:0' filename='file.bin' "
           "size='{size}' content-type='application/octet-stream'/></iq>")
SLOT = re.compile(r"<put url=['\"]([^'\"]+)['\"]>.*?<header name=['\"]Authorization['\"]>([^<]+)</header>", re.S)
AT_ONCE = 50


class Client:
    def __init__(self, port, host, user, password):
        self._socket = socket.create_connection(("127.0.0.1", port), 20)
        self._received = ""
        self._send(STREAM.format(host=host))
        self._read_until("</stream:features>")
        secret = base64.b64encode(f"\0{user}\0{password}".encode()).decode()
        self._send(AUTH.format(secret=secret))
        self._read_until("<success", "/>")
        self._send(STREAM.format(host=host))
        self._read_until("</stream:features>")
        self._send(BIND)
        self._read_until("</iq>")

    def close(self):
        self._socket.close()

    def _send(self, text):
        self._socket.sendall(text.encode())

    def _read_until(self, *ends):
        """What has come up to the last of these texts."""
        for end in ends:
            while end not in self._received:
                came = self._socket.recv(1 << 16)
                if not came:
                    raise NotPossible("prosody closed the XMPP stream: " + self._received[-200:])
                self._received += came.decode()
                if "<failure" in self._received or "type='error'" in self._received:
                    raise NotPossible("prosody refused: " + self._received[-300:])
            head, _, self._received = self._received.partition(end)
        return head

    def slots(self, component, size, count):
        """Pairs of the URL and the Authorization for one PUT each."""
        found, request = [], REQUEST.format(component=component, size=size)
        while len(found) < count:
            wanted = min(AT_ONCE, count - len(found))
            self._send(request * wanted)
            for _ in range(wanted):
                slot = SLOT.search(self._read_until("</iq>"))
                if not slot:
                    raise NotPossible("prosody's answer has no slot")
                found.append((html.unescape(slot[1]), slot[2]))
        return found

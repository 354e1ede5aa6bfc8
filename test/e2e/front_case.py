"""Base class of the HTTP tests: one server per class, and assertions on responses."""

import ssl

from http_wire import Wire, await_true
from server_case import ServerCase
from server_process import is_sanitized


class FrontCase(ServerCase):
    def setUp(self):
        self.descriptors_before = self.quiet_descriptors()

    def tearDown(self):
        await_true(lambda: self.server.client_connections() == 0, 40, "clients' connections closed")
        self.assertTrue(self.server.alive())
        await_true(lambda: len(self.server.descriptors()) <= self.descriptors_before + 2, 10,
                   "descriptors back to where they were")

    def quiet_descriptors(self):
        await_true(lambda: self.server.client_connections() == 0, 40, "clients' connections closed")
        return len(self.server.descriptors())

    def assert_memory_below(self, limit):
        """Only meaningful without sanitizers: these never return memory to the system."""
        if not is_sanitized(self.server.binary):
            self.assertLess(self.server.resident_bytes(), limit)

    def wire(self, timeout=30):
        return Wire(self.server.address, timeout=timeout)

    def exchange(self, data, timeout=30):
        """Sends the bytes on a new connection: (response, whether the server then closed it)."""
        with self.wire(timeout) as wire:
            wire.send_what_is_taken([data])
            answer = wire.read_answer()
            return answer, not still_answers(wire)


GET = b"GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n"


def still_answers(wire):
    """Whether the connection accepts another request."""
    try:
        wire.send(GET)
        return wire.read_answer().status == 200
    except OSError:
        return False


def tls_context(**options):
    """A client that trusts every certificate: that is not what these tests are about."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    for name, value in options.items():
        setattr(context, name, value)
    return context


class TlsWire(Wire):
    def __init__(self, address, context=None, timeout=30):
        super().__init__(address, timeout)
        self.plain = self.socket
        self.socket = (context or tls_context()).wrap_socket(self.plain, server_hostname="localhost",
                                                             suppress_ragged_eofs=False)

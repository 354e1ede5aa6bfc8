"""Bytes that a server and the proxy in front of it may parse differently. A case is a name, the bytes, and
the server's response without a proxy: the statuses in order, or REFUSED, which is one rejection and the end
of the connection.

Every request has its own id in X-Request-Id; NNNN in it becomes the number of the run. SMUGGLED is the
request that one of the two might parse as part of another."""

WORKSPACE = "00000000-aaaa-4000-8000-000000000001"
REFUSED = "refused"

BODY = b'{"method":"m"}'
CHUNKS = b"e\r\n" + BODY + b"\r\n0\r\n\r\n"
EMPTY_CHUNKS = b"0\r\n\r\n"
CHUNKED = "Transfer-Encoding: chunked\r\n"
LENGTH = "Content-Length: 14\r\n"
SMUGGLED = b"GET /version HTTP/1.1\r\nHost: test\r\nX-Request-Id: smuggled-NNNN\r\n\r\n"
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
H2C = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"
# A version that we reject; a proxy that ignores the response still assumes a tunnel.
WEBSOCKET = ("Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 7\r\n"
             "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n")


def head(method, target, fields, version="HTTP/1.1"):
    return f"{method} {target} {version}\r\n{fields}X-Request-Id: outer-NNNN\r\n\r\n".encode("latin-1")


def get(target="/healthz", fields="", version="HTTP/1.1"):
    return head("GET", target, "Host: test\r\n" + fields, version)


def post(fields, body=b"", version="HTTP/1.1"):
    """A message for a workspace: its body is read and stored, and the connection stays usable after it."""
    fields = "Host: test\r\nContent-Type: application/json\r\n" + fields
    return head("POST", f"/workspaces/{WORKSPACE}/a2a", fields, version) + body


def both_ways(name, fields):
    """Fields that one parser may take for a length and another for chunks, with a body for either."""
    return [(f"{name}: the end in chunks", post(fields, EMPTY_CHUNKS + SMUGGLED), REFUSED),
            (f"{name}: the end by length", post(fields, BODY + SMUGGLED), REFUSED)]


HONEST = [
    ("by length, another behind", post(LENGTH, BODY) + SMUGGLED, [200, 200]),
    ("in chunks, another behind", post(CHUNKED, CHUNKS) + SMUGGLED, [200, 200]),
    ("in chunks with a size in capitals and zeros", post(CHUNKED, b"00E\r\n" + BODY + b"\r\n000\r\n\r\n") + SMUGGLED,
     [200, 200]),
    ("chunked in capitals", post("Transfer-Encoding: CHUNKED\r\n", CHUNKS) + SMUGGLED, [200, 200]),
    ("a tab before chunked", post("Transfer-Encoding:\tchunked\r\n", CHUNKS) + SMUGGLED, [200, 200]),
    ("blanks around a length", post("Content-Length: \t 14 \r\n", BODY) + SMUGGLED, [200, 200]),
    ("zeros before a length", post("Content-Length: 00000014\r\n", BODY) + SMUGGLED, [200, 200]),
    ("extensions", post(CHUNKED, b'e;a=b;c="d e"\r\n' + BODY + b"\r\n0;last\r\n\r\n") + SMUGGLED, [200, 200]),
    ("trailers", post(CHUNKED, CHUNKS[:-2] + b"X-Late: 1\r\nX-Later: 2\r\n\r\n") + SMUGGLED, [200, 200]),
    ("framing in trailers", post(CHUNKED, CHUNKS[:-2] + b"Content-Length: 70\r\n\r\n") + SMUGGLED, REFUSED),
    ("three in a row", get() + get("/nowhere") + get("/version"), [200, 404, 200]),
    ("an empty line between two", get() + b"\r\n" + SMUGGLED, [200, 200]),
    ("a HEAD before another", head("HEAD", "/healthz", "Host: test\r\n") + SMUGGLED, [200, 200]),
    ("an expectation", post(LENGTH + "Expect: 100-continue\r\n", BODY) + SMUGGLED, [200, 200]),
    ("an expectation without a body", get(fields="Expect: 100-continue\r\n") + SMUGGLED, [200, 200]),
    ("an upgrade to h2c", get(fields=H2C) + SMUGGLED, [200, 200]),
    ("an upgrade to h2c, and HTTP/2 behind", get(fields=H2C) + PREFACE + SMUGGLED, [200, 505]),
    ("a WebSocket of another version", get("/ws", WEBSOCKET) + SMUGGLED, [426, 200]),
    ("a connection that is to be closed", get(fields="Connection: close\r\n") + SMUGGLED, [200]),
    ("fields that Connection would take away", post(LENGTH + "Connection: Content-Length\r\n", BODY) + SMUGGLED,
     [200, 200]),
    ("the whole address in the request line", get("http://test/healthz") + SMUGGLED, [200, 200]),
]

PATHS = [(f"path {path}", get(path) + SMUGGLED, [status, 200]) for path, status in (
    ("/healthz?a=b", 200), ("//healthz", 404), ("/healthz/", 404), ("/./healthz", 400), ("/a/../healthz", 400),
    ("/a/%2e%2e/healthz", 400), ("/a/%2E%2E%2Fhealthz", 400), ("/a%2f..%2fhealthz", 400), ("/healthz;a=b", 404),
    ("/%68ealthz", 200), ("/healthz%00", 400), ("/healthz%0d%0aX:%20y", 400), ("/healthz%zz", 400), ("/healthz#a", 400),
    ("/healthz%3fa", 404), ("/healthz\\..", 400))]

BOTH = [
    *both_ways("length and chunked", LENGTH + CHUNKED), *both_ways("chunked and length", CHUNKED + LENGTH),
    *both_ways("length 0 and chunked", "Content-Length: 0\r\n" + CHUNKED),
    *both_ways("length and a folded chunked", LENGTH + "Transfer-Encoding:\r\n chunked\r\n"),
    *both_ways("length and a blank before the colon", LENGTH + "Transfer-Encoding : chunked\r\n"),
    *both_ways("length and a tab before the colon", LENGTH + "Transfer-Encoding\t: chunked\r\n"),
    *both_ways("length and xchunked", LENGTH + "Transfer-Encoding: xchunked\r\n"),
    *both_ways("length and an underscore", LENGTH + "Transfer_Encoding: chunked\r\n"),
    *both_ways("length and a name that begins with a blank", LENGTH + " Transfer-Encoding: chunked\r\n"),
    *both_ways("length and a form feed", LENGTH + "Transfer-Encoding:\x0cchunked\r\n"),
    *both_ways("length and a bare LF before chunked", LENGTH + "X: y\nTransfer-Encoding: chunked\r\n"),
    *both_ways("length and a bare CR before chunked", LENGTH + "X: y\rTransfer-Encoding: chunked\r\n"),
    *both_ways("length and a NUL before chunked", LENGTH + "X: y\0\r\nTransfer-Encoding: chunked\r\n"),
]

CODINGS = [case for value in ("xchunked", "chunked, identity", "identity, chunked", "gzip, chunked", "chunked, chunked",
                              "identity", "gzip", "chunked;q=1", '"chunked"', "chunke", "chunked,", ",chunked", "",
                              "chunked\0", "\x0bchunked", "chunked\x0b", "chunked\r\n ", "\r\n\tchunked")
           for case in both_ways(f"coding {value!r}", f"Transfer-Encoding: {value}\r\n")]
CODINGS += both_ways("chunked twice", CHUNKED + CHUNKED)
CODINGS += both_ways("chunked and identity", CHUNKED + "Transfer-Encoding: identity\r\n")
CODINGS += [("chunked on HTTP/1.0", post(CHUNKED + "Connection: keep-alive\r\n", CHUNKS, "HTTP/1.0") + SMUGGLED,
             REFUSED)]

LENGTHS = [(f"length {value!r}", post(f"Content-Length: {value}\r\n", BODY) + SMUGGLED, REFUSED) for value in (
    "+14", "-14", "0x0e", "14, 14", "14,15", "14 15", "1 4", "14\x0b", "14\0", "", "14.0", "1e1", "14;", "\u00b2",
    "18446744073709551630", "4294967310000000000014", "14\r\n ", "\r\n 14")]
LENGTHS += [("length twice", post(LENGTH + LENGTH, BODY) + SMUGGLED, REFUSED),
            ("two lengths", post("Content-Length: 0\r\n" + LENGTH, BODY) + SMUGGLED, REFUSED),
            ("two lengths, the other way", post(LENGTH + "Content-Length: 0\r\n", BODY) + SMUGGLED, REFUSED),
            ("a blank after the name", post("Content-Length : 14\r\n", BODY) + SMUGGLED, REFUSED),
            ("an underscore in the name", post("Content_Length: 14\r\n", BODY) + SMUGGLED, REFUSED),
            ("a GET with a request for body", get(fields=f"Content-Length: {len(SMUGGLED)}\r\n") + SMUGGLED, REFUSED),
            ("a GET with chunks", get(fields=CHUNKED) + CHUNKS + SMUGGLED, REFUSED)]

CHUNK_LINES = [(f"chunk {line[:24]!r}", post(CHUNKED, line + b"\r\n0\r\n\r\n") + SMUGGLED, REFUSED) for line in (
    b"0xe\r\n" + BODY, b"+e\r\n" + BODY, b"-e\r\n" + BODY, b" e\r\n" + BODY, b"\r\n" + BODY, b"g\r\n" + BODY,
    b"e\n" + BODY, b"e\r" + BODY, b"e;a\n" + BODY, b"e;a=\0\r\n" + BODY, b"e\0\r\n" + BODY, b"e,\r\n" + BODY,
    b"1000000000000000e\r\n" + BODY, b"ffffffffffffffff\r\n" + BODY, b"fffffffffffffff0\r\n" + BODY, b"d\r\n" + BODY,
    b"e;" + b"x" * 20_000 + b"\r\n" + BODY, b"e;" + b"x" * 65_536 + b"\r\n" + BODY)]
CHUNK_LINES += [
    ("data that goes on over its size", post(CHUNKED, b"e\r\n" + BODY + b"0\r\n\r\n") + SMUGGLED, REFUSED),
    ("data that ends with LF", post(CHUNKED, b"e\r\n" + BODY + b"\n0\r\n\r\n") + SMUGGLED, REFUSED),
    ("data that ends with any two bytes", post(CHUNKED, b"e\r\n" + BODY + b"xx0\r\n\r\n") + SMUGGLED, REFUSED),
    ("a last chunk that ends with LF", post(CHUNKED, b"e\r\n" + BODY + b"\r\n0\n\n") + SMUGGLED, REFUSED),
    ("a trailer that ends with LF", post(CHUNKED, CHUNKS[:-2] + b"X: y\n\r\n") + SMUGGLED, REFUSED),
    ("a trailer without a colon", post(CHUNKED, CHUNKS[:-2] + b"GET /version HTTP/1.1\r\n\r\n") + SMUGGLED, REFUSED),
    ("a trailer with a blank before its colon", post(CHUNKED, CHUNKS[:-2] + b"X : y\r\n\r\n") + SMUGGLED, REFUSED),
]

LINES = [
    ("bare line feeds", get().replace(b"\r\n", b"\n") + SMUGGLED, REFUSED),
    ("one bare line feed", get(fields="X: y\nZ: z\r\n") + SMUGGLED, REFUSED),
    ("one bare carriage return", get(fields="X: y\rZ: z\r\n") + SMUGGLED, REFUSED),
    ("an end of the head by LF alone", get()[:-2] + b"\n" + SMUGGLED, REFUSED),
    ("CR CR LF", get(fields="X: y\r\r\n") + SMUGGLED, REFUSED),
    ("NUL in a value", get(fields="X: a\0b\r\n") + SMUGGLED, REFUSED),
    ("NUL in a name", get(fields="X\0: a\r\n") + SMUGGLED, REFUSED),
    ("a folded field", get(fields="X: a\r\n b\r\n") + SMUGGLED, REFUSED),
    ("a first field that is folded", get().replace(b"Host:", b" Host:") + SMUGGLED, REFUSED),
    ("no colon", get(fields="nonsense\r\n") + SMUGGLED, REFUSED),
    ("no name", get(fields=": y\r\n") + SMUGGLED, REFUSED),
    ("a blank before the colon", get(fields="X : y\r\n") + SMUGGLED, REFUSED),
    ("no version", b"GET /healthz\r\n" + SMUGGLED, REFUSED),
    ("HTTP/1.2", get(version="HTTP/1.2") + SMUGGLED, REFUSED),
    ("HTTP/2.0", get(version="HTTP/2.0") + SMUGGLED, REFUSED),
    ("a version and more", get(version="HTTP/1.1 HTTP/1.1") + SMUGGLED, REFUSED),
    ("two blanks", get(" /healthz") + SMUGGLED, REFUSED),
    ("a tab for a blank", get().replace(b"GET ", b"GET\t") + SMUGGLED, REFUSED),
    ("a blank in the target", get("/healthz x") + SMUGGLED, REFUSED),
    ("a bare LF in the target", get("/healthz\nX:") + SMUGGLED, REFUSED),
    ("a byte of 0xff in the target", get("/health\xff") + SMUGGLED, REFUSED),
    ("a target of 9,000 bytes", get("/" + "a" * 9000) + SMUGGLED, REFUSED),
    ("a head of 20 KB", get(fields=f"X: {'a' * 20_000}\r\n") + SMUGGLED, REFUSED),
    ("70 fields", get(fields="X: a\r\n" * 70) + SMUGGLED, REFUSED),
    ("64 bytes of noise", bytes(range(128, 192)) + b"\r\n\r\n" + SMUGGLED, REFUSED),
    ("a TLS hello", bytes.fromhex("16030100a5010000a10303") + bytes(160) + SMUGGLED, REFUSED),
    ("the preface of HTTP/2", PREFACE + SMUGGLED, REFUSED),
]

HOSTS = [
    ("no Host", head("GET", "/healthz", "") + SMUGGLED, REFUSED),
    ("two Hosts", get(fields="Host: other\r\n") + SMUGGLED, REFUSED),
    ("an empty Host", head("GET", "/healthz", "Host:\r\n") + SMUGGLED, REFUSED),
    ("a Host with a path", head("GET", "/healthz", "Host: a/b\r\n") + SMUGGLED, REFUSED),
    ("another Host in the target", get("http://other/healthz") + SMUGGLED, REFUSED),
]

OTHERS = [
    ("an unknown method", head("BREW", "/healthz", "Host: test\r\n") + SMUGGLED, [501, 200]),
    ("a method of the path", head("PUT", "/healthz", "Host: test\r\n") + SMUGGLED, [405, 200]),
    ("CONNECT", head("CONNECT", "test:80", "Host: test:80\r\n") + SMUGGLED, REFUSED),
    ("an unknown expectation", post(LENGTH + "Expect: foo\r\n", BODY) + SMUGGLED, REFUSED),
    ("two bearers", get(fields="Authorization: Bearer a\r\nAuthorization: Bearer b\r\n") + SMUGGLED, REFUSED),
    ("a body that is cut", post("Content-Length: 100\r\n", BODY), REFUSED),
    ("chunks that are cut", post(CHUNKED, CHUNKS[:-4]), REFUSED),
    ("60 MiB announced, and an expectation", post("Content-Length: 62914560\r\nExpect: 100-continue\r\n"), REFUSED),
]

CASES = HONEST + PATHS + BOTH + CODINGS + LENGTHS + CHUNK_LINES + LINES + HOSTS + OTHERS

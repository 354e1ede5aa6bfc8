"""Pushpin, a proxy that holds requests. Behind it is an nginx that tells it, in headers, on which channel to hold a
request. It tells of items and keeps no files."""

import json
import pathlib
import re
import time

import processes

from . import nginx
from .peer import NotPossible, Peer

INTERNAL = pathlib.Path("/usr/lib/pushpin/internal.conf")
SECONDS_TO_CONNECT = 3  # its parts to each other; before that it listens and answers 502
DEFAULTS = pathlib.Path("/etc/pushpin/pushpin.conf")

BEHIND = """
    access_log off;
    server {{
        listen 127.0.0.1:{port};
        location ~ ^/wait/(.+)$ {{
            default_type text/plain;
            add_header Grip-Hold response;
            add_header Grip-Channel $1;
            add_header Grip-Timeout 55;
            return 200 "nothing\\n";
        }}
    }}
"""

# It makes Pushpin's requests to the server behind. Debian's own settings refuse loopback.
ZURL = """
[General]
in_spec=ipc://{folder}/zurl-in
in_stream_spec=ipc://{folder}/zurl-in-stream
out_spec=ipc://{folder}/zurl-out
in_req_spec=ipc://{folder}/zurl-req
defpolicy=allow
"""


class HeldRequests:
    """Pushpin keeps no messages, so a request says nothing about what it got before."""

    seconds_to_park = 5  # before the first item; Pushpin asks twice, a second apart, for a channel that is new

    def __init__(self, port, publish_port):
        self.port, self.publish_port = port, publish_port

    def park(self, index, told):
        return f"GET /wait/{index} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()

    def publish(self, index, item):
        message = {"channel": str(index), "formats": {"http-response": {"body": item.ljust(300)}}}
        body = json.dumps({"items": [message]})
        return (f"POST /publish/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n{body}").encode()


class Pushpin(Peer):
    name = "pushpin"
    what = "Pushpin, nginx behind it"
    kept = "not kept"
    durability = "no: messages are passed on and not kept, not even for a client between two polls"
    protocol = "POST to its control port"
    wakes_by = "long poll (GRIP hold)"
    programs = {"pushpin": "pushpin", "condure": "condure", "zurl": "zurl", "nginx": "nginx-light"}

    own_settings = {}

    def start(self):
        if not INTERNAL.exists() or not DEFAULTS.exists():
            raise NotPossible("Pushpin's settings are not where Debian puts them")
        behind = processes.free_port()
        nginx.run(self, BEHIND.format(port=behind), behind)
        zurl = self.folder / "zurl.conf"
        zurl.write_text(ZURL.format(folder=self.folder))
        self.run(["zurl", f"--config={zurl}"])
        self._write_settings()
        self.run(["pushpin", f"--config={self.folder}/pushpin.conf", "--merge-output",
                  f"--port=127.0.0.1:{self.port}", f"--route=* 127.0.0.1:{behind}"], self.port)
        self._check()

    def _write_settings(self):
        """Debian's, with files and ports of its own."""
        self.control_port = processes.free_port()
        (self.folder / "internal.conf").write_text(INTERNAL.read_text().replace("/var/run/zurl", str(self.folder)))
        own = {"include": f"{self.folder}/internal.conf", "rundir": self.folder, "logdir": self.folder,
               "push_in_spec": f"ipc://{self.folder}/push-in", "push_in_sub_specs": f"ipc://{self.folder}/push-in-sub",
               "push_in_http_port": self.control_port, "command_spec": f"ipc://{self.folder}/command",
               **self.own_settings}
        text = DEFAULTS.read_text()
        for name, value in own.items():
            text, found = re.subn(rf"^{name}=.*$", f"{name}={value}", text, flags=re.M)
            if found != 1:
                raise NotPossible(f"Pushpin's settings have no {name}")
        (self.folder / "pushpin.conf").write_text(text)

    def _check(self):
        if not processes.wait_until_listening(self._processes[-1], self.control_port, seconds=15):
            raise NotPossible("its control port does not listen")
        time.sleep(SECONDS_TO_CONNECT)
        try:
            status, _, body = self.call("GET", "/wait/probe", timeout=1)
        except TimeoutError:
            return  # held, as it should be
        raise NotPossible(f"a request that it should hold was answered with {status} {body[:200]!r}")

    def wakes(self, count):
        return HeldRequests(self.port, self.control_port)


class PushpinUnlimited(Pushpin):
    name = "pushpin-unlimited"
    what = "Pushpin without its rate limit"
    own_settings = {"message_rate": 0}  # the default, 2500, makes it pass items on every 25 ms

"""nchan, the nginx module: channels whose subscribers wait in a long poll. It tells of items and keeps no files."""

import pathlib

from . import nginx
from .peer import NotPossible, Peer

MODULE = pathlib.Path("/usr/lib/nginx/modules/ngx_nchan_module.so")

HTTP = """
    access_log {folder}/access.log;
    server {{
        listen 127.0.0.1:{port} reuseport;
        location ~ ^/publish/(.+)$ {{
            nchan_publisher;
            nchan_channel_id $1;
            nchan_message_buffer_length 100;
            nchan_message_timeout 10m;
        }}
        location ~ ^/wait/(.+)$ {{
            nchan_subscriber longpoll;
            nchan_channel_id $1;
            nchan_subscriber_first_message newest;
        }}
    }}
"""


class Subscribers:
    """Each asks for what follows the message that it got last."""

    seconds_to_park = 2  # for all of them, before the first item

    def __init__(self, port):
        self.port = self.publish_port = port

    def park(self, index, told):
        after = ""
        if told:
            after = (f"If-Modified-Since: {told.headers['last-modified']}\r\n"
                     f"If-None-Match: {told.headers['etag']}\r\n")
        return f"GET /wait/{index} HTTP/1.1\r\nHost: 127.0.0.1\r\n{after}\r\n".encode()

    def publish(self, index, item):
        body = item.ljust(300)
        return (f"POST /publish/{index} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\n"
                f"Content-Length: {len(body)}\r\n\r\n{body}").encode()


class Nchan(Peer):
    name = "nchan"
    what = "nchan in nginx"
    kept = "memory"
    durability = "no: messages are in the memory of nginx, and gone when it ends"
    protocol = "POST to a channel"
    wakes_by = "long poll"
    programs = {"nginx": "nginx-light"}

    def start(self):
        if not MODULE.exists():
            raise NotPossible("not installed: libnginx-mod-nchan")
        nginx.run(self, HTTP.format(folder=self.folder, port=self.port), self.port, f"load_module {MODULE};\n")

    def wakes(self, count):
        return Subscribers(self.port)

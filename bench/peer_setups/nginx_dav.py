"""nginx with WebDAV's PUT. Each request is first checked by a second one (auth_request), which another nginx server
answers at once from a table: the least that a check can cost."""

import os

from . import nginx
from .peer import FILES_TO_FETCH, WORKSPACES, Load, NotPossible, Peer, as_line, remove_files

TOKEN = "a-token-of-the-bench"
AUTHORIZATION = "Authorization: Bearer " + TOKEN

HTTP = """
    access_log {folder}/access.log;
    sendfile on;
    tcp_nopush on;
    client_max_body_size 50m;
    map $http_authorization $known {{ default 0; "Bearer {token}" 1; }}
    upstream auth {{ server unix:{folder}/auth.sock; keepalive 32; }}
    server {{
        listen unix:{folder}/auth.sock;
        access_log off;
        location / {{
            if ($known = 0) {{ return 401; }}
            return 204;
        }}
    }}
    server {{
        listen 127.0.0.1:{port} reuseport;
        root {folder}/root;
        location /files/ {{
            auth_request /auth;
            dav_methods PUT DELETE;
            create_full_put_path on;
        }}
        location = /auth {{
            internal;
            proxy_pass http://auth;
            proxy_pass_request_body off;
            proxy_set_header Content-Length "";
            proxy_http_version 1.1;
            proxy_set_header Connection "";
        }}
    }}
"""


class NginxDav(Peer):
    name = "nginx-dav"
    what = "nginx: WebDAV PUT and sendfile, behind auth_request"
    kept = "page cache"
    durability = "no: 201 when the bytes are in the page cache; nothing is synced"
    protocol = "PUT; GET"
    programs = {"nginx": "nginx-light"}

    def start(self):
        self.store = self.folder / "root/files"
        self.store.mkdir(parents=True)
        nginx.run(self, HTTP.format(folder=self.folder, port=self.port, token=TOKEN), self.port)
        status, _, _ = self.call("PUT", "/files/refused", b"x")
        if status != 401:
            raise NotPossible(f"a PUT without a token was answered with {status}")

    def uploads(self, size, count):
        lines = [as_line("PUT", f"/files/{i}/{{n}}.bin", AUTHORIZATION) for i in range(WORKSPACES)]
        return Load(self.port, lines, "raw")

    def fetches(self, size):
        lines = []
        for i in range(FILES_TO_FETCH):
            path = f"/files/{i % WORKSPACES}/fetch-{size}-{i}.bin"
            self.expect(201, "PUT", path, os.urandom(size), {"Authorization": "Bearer " + TOKEN})
            lines.append(as_line("GET", path, AUTHORIZATION))
        return Load(self.port, lines)

    def empty(self):
        remove_files(self.store)

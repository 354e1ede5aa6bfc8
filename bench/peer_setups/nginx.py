"""What the peers that are nginx share."""

import os

# As root, nginx would let its workers run as a user who cannot enter the folder.
HEAD = """
{user}
worker_processes {cores};
daemon off;
pid {folder}/pid;
error_log {folder}/errors;
events {{ worker_connections 4096; }}
"""

PATHS = """
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
"""


def run(peer, http, port, modules=""):
    """Starts nginx with these lines in its http block."""
    user = "user root;" if os.geteuid() == 0 else ""
    head = HEAD.format(user=user, cores=os.cpu_count(), folder=peer.folder)
    text = modules + head + "http {" + PATHS.format(folder=peer.folder) + http + "}\n"
    config = peer.folder / "nginx.conf"
    config.write_text(text)
    return peer.run(["nginx", "-c", str(config), "-e", str(peer.folder / "errors")], port)

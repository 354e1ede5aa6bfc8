"""A workspace that can be called, as agents run it: an ASGI application on Starlette and uvicorn.

    /usr/bin/python3 ingest.py FOLDER

It prints its port. FOLDER/secret holds the secret that callers must know, FOLDER/files what can be read from
it, and FOLDER/calls gets a line of JSON for each call."""

import hashlib
import json
import pathlib
import re
import socket
import sys
import uuid

import uvicorn
from starlette.applications import Starlette
from starlette.responses import FileResponse, JSONResponse
from starlette.routing import Route

FOLDER = pathlib.Path(sys.argv[1])
LIMIT = 25 * 1024 * 1024


def authorized(request):
    return request.headers.get("authorization") == f"Bearer {(FOLDER / 'secret').read_text()}"


def note(request, **more):
    with open(FOLDER / "calls", "a") as calls:
        calls.write(json.dumps({"method": request.method, "path": request.url.path,
                                "headers": dict(request.headers), **more}) + "\n")


async def ingest(request):
    if not authorized(request):
        return JSONResponse({"error": "unauthorized"}, 401)
    form = await request.form()
    files = []
    for item in form.getlist("files"):
        content = await item.read()
        if len(content) > LIMIT:
            return JSONResponse({"error": "file exceeds per-file cap"}, 413)
        name = re.sub(r"[^A-Za-z0-9._-]", "_", item.filename)
        files.append({"uri": f"workspace:/workspace/.molecule/chat-uploads/{uuid.uuid4().hex}-{name}",
                      "name": name, "mimeType": item.content_type, "size": len(content),
                      "sha256": hashlib.sha256(content).hexdigest()})
    note(request, files=files)
    if not files:
        return JSONResponse({"error": "no files field in request"}, 400)
    return JSONResponse({"files": files})


async def read_file(request):
    if not authorized(request):
        return JSONResponse({"error": "unauthorized"}, 401)
    path = request.query_params["path"]
    note(request, asked=path)
    found = FOLDER / "files" / path.lstrip("/")
    if not found.is_file():
        return JSONResponse({"error": "file not found"}, 404)
    return FileResponse(found, filename=found.name)


async def message(request):
    if not authorized(request):
        return JSONResponse({"error": "unauthorized"}, 401)
    body = await request.json()
    note(request, body=body)
    return JSONResponse({"jsonrpc": "2.0", "id": body.get("id"), "result": {"kind": "message"}})


application = Starlette(routes=[
    Route("/agent/internal/chat/uploads/ingest", ingest, methods=["POST"]),
    Route("/agent/internal/file/read", read_file),
    Route("/agent/", message, methods=["POST"]),
])

if __name__ == "__main__":
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(application, log_level="error", lifespan="off")).run(sockets=[listener])

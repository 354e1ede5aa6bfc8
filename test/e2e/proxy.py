"""A bad network on demand: a proxy that delays, throttles, slices, cuts, resets or swallows traffic."""

import asyncio
import socket
import struct
import threading

BLOCK = 1 << 16


class Conditions:
    """The current network conditions; may be changed at any time, also for existing links."""

    def __init__(self):
        self.latency = 0.0  # seconds added to every piece, each way
        self.bandwidth = None  # bytes per second, each way and link
        self.slice = None  # largest piece forwarded at a time, in bytes
        self.half_open = False  # nothing is forwarded or closed, as with an unplugged cable
        self.refuse = False  # new connections are closed immediately


class Link:
    """One client and its connection upstream."""

    def __init__(self, proxy, client, server):
        self.proxy = proxy
        self.client = client  # (reader, writer)
        self.server = server
        self._ended = asyncio.Event()

    def end(self, reset=False):
        for _, writer in (self.client, self.server):
            if reset and not writer.is_closing():
                raw = writer.get_extra_info("socket")
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
        self._ended.set()

    async def run(self):
        pumps = [asyncio.create_task(self.to_server()), asyncio.create_task(self.to_client()),
                 asyncio.create_task(self._ended.wait())]
        await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        for pump in pumps:
            pump.cancel()
        await asyncio.gather(*pumps, return_exceptions=True)
        self.end()

    async def to_server(self):
        await self._pump(self.client[0], self.server[1])

    async def to_client(self):
        await self._pump(self.server[0], self.client[1])

    async def _pump(self, reader, writer):
        while data := await reader.read(BLOCK):
            await self.pass_on(data, writer)

    async def pass_on(self, data, writer):
        """Forwards data, at the rate and in the pieces that the conditions allow."""
        line = self.proxy.conditions
        size = line.slice or max(len(data), 1)
        for at in range(0, len(data), size):
            piece = data[at:at + size]
            if line.latency:
                await asyncio.sleep(line.latency)
            while line.half_open:
                await asyncio.sleep(0.02)
            writer.write(piece)
            await writer.drain()
            if line.bandwidth:
                await asyncio.sleep(len(piece) / line.bandwidth)
            elif line.slice:
                await asyncio.sleep(0)


class Proxy:
    """Listens on a free loopback port and forwards to `upstream`: (host, port), or the path of a unix socket.
    Runs in its own thread; every method may be called from the test's thread."""

    link = Link

    def __init__(self, upstream):
        self.upstream = upstream
        self.conditions = Conditions()
        self._links = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)
        self._thread.start()
        self._server = self.call(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port = self._server.sockets[0].getsockname()[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.call(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(timeout=30)

    def links(self):
        return len(self._links)

    def cut(self, reset=False):
        """Closes every link; with `reset` the peers get ECONNRESET instead of EOF."""
        async def end_all():
            for link in list(self._links):
                link.end(reset)
        self.call(end_all())

    async def _serve(self, *client):
        if self.conditions.refuse:
            client[1].transport.abort()
            return
        try:
            if isinstance(self.upstream, str):
                server = await asyncio.open_unix_connection(self.upstream, limit=BLOCK)
            else:
                server = await asyncio.open_connection(*self.upstream, limit=BLOCK)
        except OSError:
            client[1].transport.abort()
            return
        link = self.link(self, client, server)
        self._links[link] = asyncio.current_task()
        try:
            await link.run()
        except OSError:
            link.end()
        finally:
            del self._links[link]

    async def _close(self):
        self._server.close()
        tasks = list(self._links.values())
        for link in list(self._links):
            link.end()
        await asyncio.gather(*tasks, return_exceptions=True)

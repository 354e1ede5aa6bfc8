"""How long it takes until a client that waits is told of a new item. The same client for every peer: all clients of
one peer wait, one item at a time is sent to one of them, and the answers are awaited."""

import select
import socket
import statistics
import time

from .bystanders import Bystanders
from .peer import NotPossible
from .process_tree import cpu_seconds

GROUP, GROUP_PAUSE = 100, 0.1  # clients do not arrive by the thousand at once
PAUSE = 0.002         # between items, so that nothing queues
WARM_UP_ITEMS = 50
LONGEST = 30          # seconds, because the longest of the polls ends after 55


class Answer:
    def __init__(self, head, body):
        self.status = int(head.split(b" ", 2)[1])
        self.headers = {}
        for line in head.split(b"\r\n")[1:]:
            name, _, value = line.partition(b":")
            self.headers[name.strip().lower().decode()] = value.strip().decode("latin-1")
        self.body = body


class Link:
    """A connection that sends one request at a time."""

    def __init__(self, port):
        self._port = port
        self.open()

    def open(self):
        self.socket = socket.create_connection(("127.0.0.1", self._port), 20)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received = b""

    def close(self):
        self.socket.close()

    def send(self, request):
        self.socket.sendall(request)

    def receive(self):
        """What has come; the answer once it is complete, else None."""
        came = self.socket.recv(1 << 16)
        if not came:
            raise NotPossible("the server closed a connection on which a client waited")
        self._received += came
        head, end, rest = self._received.partition(b"\r\n\r\n")
        if not end:
            return None
        answer = Answer(head, b"")
        length = self._length_of(answer, rest)
        if length is None or len(rest) < length:
            return None
        answer.body, self._received = rest[:length], rest[length:]
        return answer

    @staticmethod
    def _length_of(answer, rest):
        if "content-length" in answer.headers:
            return int(answer.headers["content-length"])
        if "chunked" in answer.headers.get("transfer-encoding", ""):
            last = rest.find(b"0\r\n\r\n")  # good enough for the short texts of these items
            return None if last < 0 else last + 5
        return 0


def send_item(clients, sender, parked, index, number):
    """Returns milliseconds from sending until told, and from the sender's answer until told."""
    item = f"item-{number:08d}"
    request = clients.publish(index, item)
    waiting = {sender.socket: sender, parked.socket: parked}
    at, answers, began = {}, {}, time.perf_counter()
    sender.send(request)
    while waiting:
        ready, _, _ = select.select(list(waiting), [], [], 20)
        if not ready:
            raise NotPossible("a waiting client was not told of its item within 20 s")
        now = time.perf_counter()
        for each in ready:
            link = waiting[each]
            answer = link.receive()
            if answer:
                at[link], answers[link] = now, answer
                del waiting[each]
    if answers[sender].status not in (200, 201, 202):
        raise NotPossible(f"the item was refused with {answers[sender].status} {answers[sender].body[:200]!r}")
    if answers[parked].status != 200 or item.encode() not in answers[parked].body:
        raise NotPossible(f"a waiting client got {answers[parked].status} {answers[parked].body[:200]!r}")
    parked.send(clients.park(index, answers[parked]))
    if answers[sender].headers.get("connection", "").lower() == "close":
        sender.close()
        sender.open()
    return (at[parked] - began) * 1e3, (at[parked] - at[sender]) * 1e3


def still_waits(clients, link, index):
    """False for a client that was answered without an item, with an error or after its time; it asks again."""
    if not select.select([link.socket], [], [], 0)[0]:
        return True
    if link.receive():
        link.send(clients.park(index, None))
    return False


def percentiles(times):
    times = sorted(times)
    return statistics.median(times), times[min(len(times) - 1, int(len(times) * 0.99))]


def measure(peer, clients, count, seconds):
    links = []
    try:
        for index in range(count):
            links.append(Link(clients.port))
            links[-1].send(clients.park(index, None))
            if index % GROUP == GROUP - 1:
                time.sleep(GROUP_PAUSE)
        sender = Link(clients.publish_port)
        links.append(sender)
        time.sleep(clients.seconds_to_park)
        if not all([still_waits(clients, link, index) for index, link in enumerate(links[:count])]):
            time.sleep(clients.seconds_to_park)
        for number in range(WARM_UP_ITEMS):
            send_item(clients, sender, links[number % count], number % count, number)
        return send_items(peer, clients, links[:count], sender, min(seconds, LONGEST))
    finally:
        for link in links:
            link.close()


def send_items(peer, clients, links, sender, seconds):
    from_sent, from_answer, number = [], [], WARM_UP_ITEMS
    bystanders = Bystanders(peer)
    before, end = cpu_seconds(peer.roots()), time.perf_counter() + seconds
    asked_again = 0
    while time.perf_counter() < end:
        index = number % len(links)
        if not still_waits(clients, links[index], index):
            asked_again += 1
            number += 1
            continue
        sent, answered = send_item(clients, sender, links[index], index, number)
        from_sent.append(sent)
        from_answer.append(answered)
        number += 1
        time.sleep(PAUSE)
    used = cpu_seconds(peer.roots()) - before
    if asked_again > len(from_sent) / 100:
        raise NotPossible(f"{asked_again} clients were answered without an item, {len(from_sent)} with one")
    (p50, p99), (answer_p50, answer_p99) = percentiles(from_sent), percentiles(from_answer)
    return {"p50_ms": p50, "p99_ms": p99, "from_answer_p50_ms": answer_p50, "from_answer_p99_ms": answer_p99,
            "items": len(from_sent), "parked": len(links), "asked_again": asked_again,
            "others": bystanders.share(),
            "cpu_us": used / len(from_sent) * 1e6}

#!/usr/bin/env python3
"""An S3 that fails, lies, hangs, is full or away: no file is lost, none is passed on as whole that is not, and
everything that does not need the store goes on."""

import datetime
import pathlib
import sys
import tempfile
import time
import unittest

import s3_proxy
from content_case import KIB, MIB
from forms import PLAIN, form, noise, part
from http_wire import Wire, await_true, request_head
from s3_case import S3Case
from s3_proxy import Fault, S3Proxy, error
from server_process import BINARY, Server
from testbed import upload

sys.path.insert(0, str(pathlib.Path(__file__).parent / "soak"))
from surroundings import Clock, wrapped  # noqa: E402


class Faults(S3Case):
    sweeping = ()
    limits = ("--max-file-bytes", "80MiB", "--max-request-bytes", "160MiB", "--workspace-max-bytes", "0")

    @classmethod
    def prepare_store(cls):
        super().prepare_store()
        cls.proxy = cls.enterClassContext(S3Proxy(cls.told["S3_ENDPOINT"]))
        cls.direct_flags, cls.store_flags = cls.store_flags, cls.flags_for(cls.proxy.endpoint)

    def setUp(self):
        super().setUp()
        self.proxy.heal()
        self.await_sound()
        self.seed = 0

    def content(self, size=MIB):
        self.seed += 1
        return noise(size, self.seed)

    def send_all(self, contents):
        return upload(self.server.address, self.workspace, form(*[part(each) for each in contents]), PLAIN)

    def test_uploads_survive_passing_failures(self):
        for action in (error(500, "InternalError"), error(502, ""), error(503, "SlowDown"), s3_proxy.cut_request,
                       s3_proxy.cut_answer, s3_proxy.no_answer, s3_proxy.wrong_etag):
            with self.subTest(action=action.__name__):
                content = self.content()
                fault = self.proxy.spoil(Fault(action, "PUT", times=2))
                file = self.stage(content)
                self.assertGreaterEqual(fault.met, 1)
                self.assertTrue(self.s3.get(self.object_of(file)) == content)
                self.proxy.heal()
                self.assert_fetched(file, content)

    def test_downloads_survive_passing_failures(self):
        content = self.content(3 * MIB)
        file = self.stage(content)
        for action in (error(500, "InternalError"), error(503, "SlowDown"), s3_proxy.cut_answer, s3_proxy.no_answer,
                       s3_proxy.shorter):
            with self.subTest(action=action.__name__):
                fault = self.proxy.spoil(Fault(action, "GET", mark=file["file_id"], times=2))
                self.assert_fetched(file, content)
                self.assertEqual(fault.met, 2)

    def test_the_first_bytes_of_a_download_do_not_wait_for_the_others(self):
        content = self.content(8 * MIB)
        file = self.stage(content)
        self.proxy.spoil(Fault(s3_proxy.stall_after(512 * KIB), "GET", mark=file["file_id"]))
        with Wire(self.server.address, timeout=60) as wire:
            wire.send(self.head("GET", self.content_path(file), headers=[("Connection", "close")]))
            self.assertIn(b" 200 ", wire._read_until(b"\r\n\r\n"))
            body = wire._read(256 * KIB)
            self.proxy.heal()
            body += wire._read(len(content) - len(body))
        self.assertTrue(body == content)

    def test_bytes_that_are_not_those_that_were_stored_are_never_passed_on_as_whole(self):
        file = self.stage(self.content())
        self.proxy.spoil(Fault(s3_proxy.wrong_bytes, "GET", mark=file["file_id"], times=100))
        self.assert_never_whole(file)

    def test_refusals_are_not_repeated(self):
        fault = self.proxy.spoil(Fault(error(403, "AccessDenied"), "PUT", times=100))
        self.assert_unavailable(self.send(self.content()))
        self.assertEqual(fault.met, 1)

    def test_an_upload_in_parts_whose_etags_are_wrong_leaves_nothing(self):
        before = self.db.counts()
        self.proxy.spoil(Fault(s3_proxy.wrong_etag, "PUT", mark="partNumber", times=100))
        self.assert_unavailable(self.send(self.content() * 66))
        self.assertEqual(self.db.counts(), before)
        self.assertTrue(any(method == "DELETE" and "uploadId" in target for method, target, _ in self.proxy.seen))

    def test_a_completion_whose_answer_is_lost_is_found_out(self):
        content = self.content() * 66
        fault = self.proxy.spoil(Fault(s3_proxy.no_answer, "POST", mark="uploadId"))
        file = self.stage(content)
        self.assertEqual(fault.met, 1)
        self.assert_fetched(file, content)

    def test_a_full_store_is_read_and_not_written(self):
        content = self.content()
        file = self.stage(content)
        self.proxy.spoil(Fault(error(507, "InsufficientStorage"), "PUT", times=1000))
        self.assert_unavailable(self.send(self.content()))
        self.await_degraded("full")
        self.assert_refused_before_its_body()
        self.assert_fetched(file, content)
        self.stage(b"small files go on")
        self.proxy.heal()
        await_true(lambda: self.send(self.content()).status == 200, 60, "uploads go on")

    def test_a_store_that_hangs_costs_bounded_time(self):
        self.proxy.spoil(Fault(s3_proxy.hang, "PUT", times=1000))
        begun = time.monotonic()
        self.assert_unavailable(self.send(self.content()))
        self.assertLess(time.monotonic() - begun, 10)

    def test_a_store_that_hangs_costs_no_more_for_many_files(self):
        """Every request hangs, also that which would remove what was stored."""
        before = self.db.counts()
        self.proxy.spoil(Fault(s3_proxy.hang, times=1000))
        begun = time.monotonic()
        self.assert_unavailable(self.send_all(self.content() for _ in range(9)))
        self.assertLess(time.monotonic() - begun, 10)
        self.assertEqual(self.db.counts(), before)

    def test_the_files_of_a_request_are_put_four_at_a_time(self):
        contents = [self.content() for _ in range(10)]
        slow = s3_proxy.Slow(0.3)
        self.proxy.spoil(Fault(slow, "PUT", times=1000))
        answer = self.send_all(contents)
        self.assertEqual(answer.status, 200, answer)
        self.assertEqual(slow.most, 4)
        for file, content in zip(answer.json()["files"], contents):
            self.assert_fetched(file, content)

    def test_one_file_of_many_that_is_refused_leaves_none(self):
        before, keys = self.db.counts(), self.stored_keys()
        self.proxy.spoil(Fault(s3_proxy.Slow(0.1), "PUT", times=2), Fault(error(403, "AccessDenied"), "PUT"))
        self.assert_unavailable(self.send_all(self.content() for _ in range(10)))
        self.assertEqual(self.db.counts(), before)
        self.assertEqual(self.stored_keys(), keys)

    def test_requests_to_the_store_belong_to_the_trace_of_theirs(self):
        trace, caller = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
        headers = [("traceparent", f"00-{trace}-{caller}-01")]
        self.proxy.spoil(Fault(error(500, "InternalError"), "PUT"))
        content = self.content()
        file = upload(self.server.address, self.workspace, form(part(content)), PLAIN, headers).json()["files"][0]
        self.assertTrue(self.get(self.content_path(file), headers=headers).body == content)
        for method, times in (("PUT", 2), ("GET", 1)):
            told = [each for how, each in list(self.proxy.traces) if how == method and each]
            self.assertEqual(len(told), times, self.proxy.traces)
            for each in told:
                version, its_trace, span, flags = each.split("-")
                self.assertEqual((version, its_trace, flags), ("00", trace, "01"))
                self.assertNotIn(span, (caller, "0" * 16))

    def test_a_store_that_is_away_stops_only_what_needs_it(self):
        content = self.content()
        file = self.stage(content)
        self.proxy.away()
        try:
            self.await_degraded("content store")
            self.assert_refused_before_its_body()
            self.assert_unavailable(self.send(content))
            self.assert_unavailable(self.get(self.content_path(file)))
            small = self.stage(b"x" * 256 * KIB)
            self.assert_fetched(small, b"x" * 256 * KIB)
        finally:
            self.proxy.back()
        self.await_sound()
        self.assert_fetched(file, content)

    def test_a_clock_that_is_wrong_is_called_that(self):
        with tempfile.TemporaryDirectory(prefix="restante-clock-") as folder:
            clock = Clock(folder)
            with clock.shifted(datetime.timedelta(minutes=-20)), wrapped(BINARY, *clock.lines()) as late, \
                    Server(self.db.conninfo, "--content-store", "s3", *self.direct_flags, binary=late) as server:
                await_true(lambda: self.says_that_its_clock_is_behind(server), 60, "/readyz says that the clock is behind")

    @staticmethod
    def says_that_its_clock_is_behind(server):
        told = server.get("/readyz").json().get("degraded", [])
        return any("our clock is 1" in each and "s behind the store's" in each for each in told)

    def assert_refused_before_its_body(self):
        """503 comes although nothing but the head was sent. A form up to 16 MiB could be one of small files."""
        with Wire(self.server.address) as wire:
            wire.send(request_head("POST", self.workspace.uploads, [
                ("Host", "test"), ("Authorization", "Bearer " + self.workspace.token),
                ("Content-Type", f"multipart/form-data; boundary={PLAIN}"), ("Content-Length", str(20 * MIB))]))
            self.assert_unavailable(wire.read_answer())


if __name__ == "__main__":
    unittest.main()

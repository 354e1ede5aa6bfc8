#!/usr/bin/env python3
"""Forms that must be rejected. For every rejection: the status and the text of the contract, no row, one log
line at most, and nothing held afterwards."""

import hashlib
import time
import unittest

from forms import PLAIN, chunked, form, noise, part, raw_part
from http_wire import Wire, request_head
from testbed import upload_head
from upload_case import UploadCase

KIB, MIB = 1024, 1024 * 1024
MALFORMED = (400, "malformed multipart body", "malformed_multipart")
NO_FILES = (400, "no files field in request", "no_files")
DISPOSITION = b'Content-Disposition: form-data; name="files"; filename="a.txt"'
GOOD = form(part("good"))


class BadForms(UploadCase):
    def setUp(self):
        self.before = self.db.counts()
        self.log_mark = self.server.log_size()

    def refuse(self, expected, body, boundary=PLAIN, headers=(), content_type=None):
        """Sends a form that must be rejected, and checks everything that a rejection must not change."""
        head = upload_head(self.workspace, boundary, len(body), headers)
        if content_type is not None:
            named = f"Content-Type: multipart/form-data; boundary={boundary}\r\n".encode()
            head = head.replace(named, b"Content-Type: " + content_type + b"\r\n" if content_type else b"")
        mark = self.server.log_size()
        with Wire(self.server.address) as wire:
            wire.send_what_is_taken([head, body])
            answer = wire.read_answer()
        told = answer.json()
        status, error, code = expected
        self.assertEqual((answer.status, told["code"]), (status, code))
        if error:
            self.assertEqual(told["error"], error)
        self.assertEqual(answer.headers["cache-control"], "no-store")
        self.assertEqual(answer.headers["x-content-type-options"], "nosniff")
        self.assertTrue(answer.headers["x-request-id"])
        self.assertLessEqual(len(self.server.log_lines(mark)), 1)
        self.assertEqual(self.db.counts(), self.before)
        return told

    def tearDown(self):
        self.assertTrue(self.server.alive())
        self.assert_quiet()
        self.server.log_lines(self.log_mark)  # checks that every line is one JSON object

    def test_other_content_types(self):
        unsupported = (415, None, "unsupported_media_type")
        for content_type in (b"text/plain", b"multipart/mixed; boundary=b", b"", b"multipart/form-datas"):
            with self.subTest(content_type=content_type):
                self.refuse(unsupported, GOOD, content_type=content_type)
        self.refuse(unsupported, GOOD, headers=[("Content-Encoding", "gzip")])
        self.refuse(unsupported, GOOD, headers=[("Content-Encoding", "identity")])

    def test_boundaries(self):
        for parameters in (b"", b"; boundary=", b'; boundary=""', b"; boundary=" + b"x" * 71,
                           b'; boundary="a',
                           b"; boundary=a; boundary=b", b'; boundary="a@b"', b'; boundary="a blank "'):
            with self.subTest(parameters=parameters):
                self.refuse(MALFORMED, GOOD, content_type=b"multipart/form-data" + parameters)

    def test_no_delimiters(self):
        for body in (b"", b"--b--", b"--b--\r\n", b"no delimiter anywhere", GOOD.replace(b"--b", b"--c"),
                     b"\r\n" * 1000, b"--b", b"--b\r\n", b"--b\r\n\r\n--b--\r\n"):
            with self.subTest(body=body[:60]):
                self.refuse(MALFORMED, body)

    def test_closing_delimiter_cut_at_every_byte(self):
        whole = len(GOOD) - len(b"\r\n")  # the final line end is optional
        for cut in range(GOOD.index(b"good"), whole):
            with self.subTest(cut=cut):
                self.refuse(MALFORMED, GOOD[:cut])

    def test_a_mebibyte_outside_of_the_parts(self):
        for filling in (b"x", b"\r\n--", b"\r\n--a", b"-", b"\r"):
            padding = filling * (MIB // len(filling))
            with self.subTest(filling=filling):
                begun = self.server.cpu_seconds()
                self.refuse(MALFORMED, padding + b"\r\n" + GOOD)
                self.refuse(MALFORMED, GOOD + padding)
                self.assertLess(self.server.cpu_seconds() - begun, 2)

    def test_part_headers(self):
        for lines in ([], [DISPOSITION, b" folded"], [b" " + DISPOSITION],
                      [DISPOSITION, b"X: " + b"y" * 2048], [b"Content-Type: text/plain"],
                      [DISPOSITION] + [b"X-%d: y" % i for i in range(16)],
                      [b"Content-Disposition: form-data"], [DISPOSITION, DISPOSITION],
                      [b"Content-Disposition: attachment; name=files; filename=a"],
                      [DISPOSITION, b"no colon"],
                      [b'Content-Disposition: form-data; filename="a.txt"'], [DISPOSITION, b"Blank : y"],
                      [DISPOSITION, b"Content-Transfer-Encoding: base64"],
                      [DISPOSITION, b"Content-Type: multipart/mixed; boundary=c"]):
            with self.subTest(lines=[line[:70] for line in lines][:3]):
                self.refuse(MALFORMED, form(raw_part(lines, b"x")))
        with self.subTest("a header that never ends"):
            self.refuse(MALFORMED, b"--b\r\n" + DISPOSITION + b"\r\nX: " + b"y" * MIB)

    def test_no_file_among_the_fields(self):
        for body in (form(part("x", name="file")), form(part("x", filename=None)),
                     form(part("x", filename="")), form(part("x", name="Files"), part(b"", filename=""))):
            with self.subTest(body=body[:80]):
                self.refuse(NO_FILES, body)

    def test_control_characters_in_names(self):
        for name in (b"a\rb", b"a\nb", b"a\r\nb", b"a\x00b", b'a\r\n{"event":"forged"}'):
            with self.subTest(name=name):
                self.refuse(MALFORMED, form(part("x", name)))
        self.assertNotIn('"event":"forged"', self.server.log_text(self.log_mark))

    def test_names_of_256_bytes(self):
        self.refuse(MALFORMED, form(part("x", "n" * 256)))
        self.refuse(MALFORMED, form(part("x", "é" * 128)))

    def test_too_many_files_and_parts(self):
        self.refuse((400, "too many files (limit 64)", "too_many_files"), form(*[part("x")] * 65))
        fields = [part("x", None, None, "field")] * 80
        self.refuse(MALFORMED, form(*fields, part("x")))
        begun = time.monotonic()
        self.refuse(MALFORMED, b"--b\r\n\r\n" * 100_000)
        self.refuse(MALFORMED, form(*[part("", None, None, "f")] * 4000))
        self.assertLess(time.monotonic() - begun, 10)

    def test_an_empty_file(self):
        body = form(part("x"), part("", "nothing here.txt"), part("y"))
        told = self.refuse((400, "empty file", "empty_file"), body)
        self.assertEqual(told["filename"], "nothing here.txt")

    def test_a_byte_over_the_cap_of_a_file(self):
        content = b"z" * (26_214_400 + 1)
        told = self.refuse((413, "file exceeds per-file cap", "file_too_large"),
                           form(part("first"), part(content, "big é.bin"), part("last")))
        self.assertEqual((told["filename"], told["max"]), ("big é.bin", 26_214_400))
        self.assertGreater(told["size"], 26_214_400)

    def test_announced_over_the_cap_of_a_request(self):
        with Wire(self.server.address) as wire:
            wire.send(upload_head(self.workspace, PLAIN, 52_428_800 + 256 * KIB + 1))
            answer = wire.read_answer()
        self.assertEqual((answer.status, answer.json()["error"], answer.json()["max"]),
                         (413, "request exceeds total cap", 52_428_800))

    def test_chunked_past_the_cap_of_a_request(self):
        """Reported as soon as it is exceeded: the client sends 51 MiB and waits, as if it would never
        stop."""
        one = form(*[part(b"q" * (17 * MIB), f"{i}") for i in range(3)])
        with Wire(self.server.address) as wire:
            wire.send(upload_head(self.workspace, PLAIN))
            wire.send_what_is_taken([chunked(one, (MIB,))[:-5]])
            answer = wire.read_answer()
        self.assertEqual((answer.status, answer.json()["error"]), (413, "request exceeds total cap"))
        self.assertEqual(self.db.counts(), self.before)

    def test_keys_that_are_none(self):
        for key in ("", "a b", "é", "k" * 129):
            with self.subTest(key=key):
                headers = [("Idempotency-Key", key.encode().decode("latin-1"))]
                self.refuse((400, None, "bad_request"), GOOD, headers=headers)


class OddButGood(UploadCase):
    """Forms that look wrong but are valid."""

    def store(self, body, contents, boundary=PLAIN, content_type=None):
        workspace = self.db.add_workspace()
        head = upload_head(workspace, boundary, len(body))
        if content_type:
            head = head.replace(f"boundary={boundary}".encode(), content_type)
        with Wire(self.server.address) as wire:
            wire.send(head + body)
            return self.assert_stored(wire.read_answer(), contents, workspace)

    def test_a_quoted_boundary_with_a_blank(self):
        self.store(form(part("x"), boundary="a b=1"), [b"x"], "a b=1", b'boundary="a b=1"')
        self.store(form(part("x"), boundary="y" * 70), [b"x"], "y" * 70)

    def test_the_delimiter_inside_of_content(self):
        for content in (b"x--b--\r\n", b"\n--b\r\n", b"\r--b--", b"\r\n--", b"\r\n-b", b"\r\n--a\r\n--",
                        b"\r\n"):
            with self.subTest(content=content):
                self.store(form(part(content)), [content])

    def test_25_mib_of_almost_delimiters(self):
        for pattern in (b"\r\n--boundar", b"\r", b"-", b"\r\n-", b"\r\n"):
            content = (pattern * (25 * MIB // len(pattern) + 1))[:25 * MIB]
            with self.subTest(pattern=pattern):
                begun = self.server.cpu_seconds()
                self.store(form(part(content), boundary="boundary"), [content], "boundary")
                self.assertLess(self.server.cpu_seconds() - begun, 15)

    def test_exactly_the_cap_and_64_files(self):
        content = noise(26_214_400, 1)
        self.store(form(part(content)), [content])
        self.store(form(part(content), part(content), boundary="bbb"), [content] * 2, "bbb")
        contents = [bytes([i]) for i in range(64)]
        self.store(form(*[part(content) for content in contents]), contents)

    def test_names(self):
        for raw, name, original in (
                (b"../../etc/passwd", "passwd", "../../etc/passwd"), (rb"C:\x.txt", "C__x.txt", r"C:\x.txt"),
                (b".", "file", "."), (b"..", "file", ".."), (b"dir/", "file", "dir/"),
                (b'q\\"uote.txt', "q_uote.txt", 'q"uote.txt'), (b"my file.pdf", "my_file.pdf", "my file.pdf"),
                (b"weird;$name`.txt", "weird__name_.txt", "weird;$name`.txt"),
                ("日本.txt".encode(), "__.txt", "日本.txt"), (b"\xff\xfe.txt", "__.txt", None),
                (b"n" * 251 + b".txt", "n" * 96 + ".txt", "n" * 251 + ".txt"),
                (b"%41.txt", "_41.txt", "%41.txt")):
            with self.subTest(raw=raw):
                (told,) = self.store(form(part("x", raw)), [b"x"])
                self.assertEqual(told["name"], name)
                if original is not None:
                    self.assertEqual(told["original_name"], original)

    def test_types(self):
        octets = "application/octet-stream"
        for raw, mimetype in ((b"text/html; charset=x", "text/html"), (b"type/", octets),
                              (b"text/h\rtml", octets), (b"text/h\ntml", octets), (b"nonsense", octets),
                              (b"", ""), (b"a/b/c", octets),
                              (b"  image/png ", "image/png"), ("tëxt/plain".encode(), octets), (b";x", "")):
            with self.subTest(raw=raw):
                (told,) = self.store(form(part("x", content_type=raw)), [b"x"])
                self.assertEqual(told["mimeType"], mimetype)

    def test_one_mebibyte_in_chunks_of_one_byte(self):
        workspace, content = self.db.add_workspace(), noise(MIB, 3)
        with Wire(self.server.address) as wire:
            begun = self.server.cpu_seconds()
            wire.send(upload_head(workspace, PLAIN) + chunked(form(part(content)), (1,)))
            self.assert_stored(wire.read_answer(), [content], workspace)
            self.assertLess(self.server.cpu_seconds() - begun, 20)


if __name__ == "__main__":
    unittest.main()

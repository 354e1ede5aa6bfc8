"""Base class of the tests of scopes and grants: two servers on one database, and bearers of every kind."""

from forms import PLAIN, form, part
from http_wire import Wire
from identity_case import IdentityCase, own_address, request, tokens_path
from testbed import Workspace, upload, upload_head


class GrantCase(IdentityCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.second = cls.start_server(*cls.flags)

    def setUp(self):
        super().setUp()
        self.id, self.token = self.register()

    @property
    def path(self):
        return f"/workspaces/{self.id}"

    def mint(self, scope="full", **fields):
        """A token of this workspace: the answer, which holds it as auth_token."""
        answer = self.call("POST", tokens_path(self.id), self.token, {"scope": scope, **fields})
        self.assertEqual(answer.status, 201, answer)
        return answer.json()

    def grant(self, server=None, **fields):
        """An upload grant: the answer, which holds it as grant."""
        answer = self.call("POST", f"{self.path}/upload-grants", self.token, fields, server=server)
        self.assertEqual(answer.status, 201, answer)
        return answer.json()

    def listed(self, grant, server=None):
        """The grant as the list shows it."""
        grants = self.call("GET", f"{self.path}/upload-grants", self.token, server=server).json()
        return next(each for each in grants if each["grant_id"] == grant["grant_id"])

    def send(self, bearer, body=None, server=None, headers=()):
        """One upload, of one small file unless a form is given."""
        body = form(part("hello", "a.txt", "text/plain")) if body is None else body
        return upload((server or self.server).address, Workspace(self.id, bearer), body, PLAIN, headers)

    def send_around(self, bearer, change, size=2000):
        """An upload whose rest is sent after the change; the server has authorised its head by then."""
        body = form(part(b"x" * size, "a.txt", "text/plain"))
        head = upload_head(Workspace(self.id, bearer), PLAIN, len(body), [("Expect", "100-continue")])
        with Wire(self.server.address) as wire:
            wire.send(head)
            self.assertEqual(wire.read_answer().status, 100)
            wire.send(body[:200])
            change()
            wire.send(body[200:])
            return wire.read_answer()

    def ask(self, method, path, bearer, body=None):
        """As call(), and for HEAD too; each from another address, so that wrong tokens do not add up."""
        with Wire(self.server.address, source=own_address()) as wire:
            wire.send(request(method, path, bearer, body))
            return wire.read_answer(head_only=method == "HEAD")

    def stored(self):
        """How many files and feed rows the workspace has."""
        return tuple(int(self.db.session.value(f"SELECT count(*) FROM {table} WHERE workspace_id = '{self.id}'"))
                     for table in ("pending_uploads", "activity_logs"))

    def assert_code(self, answer, status, code):
        self.assertEqual((answer.status, answer.json()["code"]), (status, code), answer)

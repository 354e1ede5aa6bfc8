"""A database and a ready server for a class of tests."""

import unittest

from server_process import Server
from testbed import Database


class ServerCase(unittest.TestCase):
    flags = ()
    binary = None  # the one under test

    @classmethod
    def setUpClass(cls):
        cls.db = cls.enterClassContext(Database())
        cls.server = cls.enterClassContext(Server(cls.db.conninfo, *cls.flags, binary=cls.binary))
        cls.server.wait_ready()

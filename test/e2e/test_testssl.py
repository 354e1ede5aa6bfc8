"""testssl.sh finds no weakness in our TLS, other than those of a self-signed certificate."""

import json
import pathlib
import subprocess
import tempfile
import unittest

from front_case import FrontCase

# It rates TLS 1.0 as LOW. WARN means that it could not complete a test.
GRAVE = ("WARN", "LOW", "MEDIUM", "HIGH", "CRITICAL", "FATAL")
TOLERATED = {
    "cert_chain_of_trust": "the certificate is self-signed, so no authority vouches for it",
    "cert_revocation": "who signs for himself runs neither a revocation list nor a responder",
    "HSTS": "LOW; it would make a certificate compulsory that browsers do not trust",
}
# Protocols, ciphers by strength, forward secrecy, the server's preference and defaults, header fields,
# vulnerabilities, RC4. Purely descriptive sections are left out: each cipher in turn, client simulations.
SECTIONS = ("-p", "-s", "-f", "-P", "-S", "-h", "-U", "-4")
LOOKED_AT = {"SSLv2", "SSLv3", "TLS1", "TLS1_1", "TLS1_2", "TLS1_3", "cipherlist_NULL", "cipherlist_3DES_IDEA",
             "PFS", "cipher_order", "cert_keySize", "cert_expirationStatus", "heartbleed", "CCS", "ticketbleed",
             "ROBOT", "secure_renego", "secure_client_renego", "CRIME_TLS", "BREACH", "POODLE_SSL", "SWEET32",
             "FREAK", "DROWN", "LOGJAM", "BEAST", "LUCKY13", "RC4"}


def about(address, findings):
    """Those about the server at this address. testssl.sh also remarks on the machine it runs on, an openssl without
    a GOST engine for example, under no address."""
    return [finding for finding in findings if finding["ip"] == "%s/%s" % (address[0], address[0])]


class Testssl(FrontCase):
    flags = ("--listen-tls", "127.0.0.1:0")

    def test_no_weak_spot(self):
        with tempfile.TemporaryDirectory(prefix="restante-testssl-") as folder:
            report = pathlib.Path(folder, "report.json")
            command = ["testssl", "--quiet", "--color", "0", "--warnings", "off", "--nodns", "none", *SECTIONS,
                       "--jsonfile", report, "https://%s:%d" % self.server.tls_address]
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=500, cwd=folder)
            findings = about(self.server.tls_address, json.loads(report.read_text()))
        self.assertLessEqual(LOOKED_AT, {finding["id"] for finding in findings}, done.stdout[-3000:])
        grave = {finding["id"]: (finding["severity"], finding["finding"]) for finding in findings
                 if finding["severity"] in GRAVE and finding["id"] not in TOLERATED}
        self.assertEqual(grave, {})


if __name__ == "__main__":
    unittest.main()

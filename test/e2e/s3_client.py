"""A bare S3 client of the tests' own: it signs with Python's hmac, and so checks the server's signatures too."""

import datetime
import hashlib
import hmac
import http.client
import os
import re
import urllib.parse


def engine():
    """What test/support/s3_engine has written about the engine that it started."""
    with open(os.environ["RESTANTE_TEST_S3"]) as lines:
        return dict(line.strip().split("=", 1) for line in lines)


def _mac(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


class S3Client:
    def __init__(self, told=None, address=None):
        told = told or engine()
        self.bucket = told["S3_BUCKET"]
        self._keys = (told["S3_ACCESS_KEY"], told["S3_SECRET_KEY"])
        self._address = address or urllib.parse.urlsplit(told["S3_ENDPOINT"]).netloc
        self._connection = http.client.HTTPConnection(self._address, timeout=60)

    def close(self):
        self._connection.close()

    def call(self, method, key="", query=(), body=b""):
        """(status, headers, body)"""
        path = "/" + self.bucket + ("/" + urllib.parse.quote(key, safe="/-._~") if key else "")
        text = "&".join(f"{urllib.parse.quote(k, safe='-._~')}={urllib.parse.quote(v, safe='-._~')}"
                        for k, v in sorted(query))
        digest = hashlib.sha256(body).hexdigest()
        date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        fields = {"host": self._address, "x-amz-content-sha256": digest, "x-amz-date": date}
        names = ";".join(fields)
        canonical = "\n".join([method, path, text, *(f"{k}:{v}" for k, v in fields.items()), "", names, digest])
        scope = f"{date[:8]}/us-east-1/s3/aws4_request"
        key_bytes = ("AWS4" + self._keys[1]).encode()
        for part in (date[:8], "us-east-1", "s3", "aws4_request"):
            key_bytes = _mac(key_bytes, part)
        to_sign = f"AWS4-HMAC-SHA256\n{date}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
        signature = _mac(key_bytes, to_sign).hex()
        fields["authorization"] = (f"AWS4-HMAC-SHA256 Credential={self._keys[0]}/{scope}, SignedHeaders={names}, "
                                   f"Signature={signature}")
        self._connection.request(method, path + ("?" + text if text else ""), body=body, headers=fields)
        answer = self._connection.getresponse()
        return answer.status, answer.headers, answer.read()

    def get(self, key):
        status, _, body = self.call("GET", key)
        return body if status == 200 else None

    def put(self, key, body):
        status, _, said = self.call("PUT", key, body=body)
        assert status == 200, said

    def delete(self, key):
        assert self.call("DELETE", key)[0] in (200, 204)

    def keys(self, prefix):
        _, _, body = self.call("GET", query=[("list-type", "2"), ("prefix", prefix)])
        return re.findall(r"<Key>([^<]*)</Key>", body.decode())

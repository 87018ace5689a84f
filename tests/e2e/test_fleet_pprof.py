# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings sent to Pyroscope and Parca, or rather to a receiver here that takes requests as their
documents and sources have them, as no package has either."""

import base64
import email
import http.server
import json
import ssl
import subprocess
import urllib.parse

import harness
from harness import PROFTRACE, UNLIMITED, program
from http_receiver import HttpReceiver


class Receiver(HttpReceiver):
    """Requests are kept as (path, headers, body), and answered with `status`."""

    def __init__(self):
        self.status = 200
        super().__init__(Handler)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append((self.path, self.headers, body))
        self.send_response(self.server.status)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


class Pprof(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.receiver = Receiver()
        self.addCleanup(self.receiver.end)

    def run_one(self, *args):
        return self.process(PROFTRACE, *args, stdin=subprocess.DEVNULL).finish()

    def record(self):
        path = self.path("data")
        done = self.run_one("record", "-q", *UNLIMITED, "-o", path, "--", program("recursion"), 5, 1)
        self.assertEqual(done.status, 0, str(done))
        return path

    def send(self, scheme, path, *options, status=0, to="127.0.0.1"):
        done = self.run_one("send", "--to", f"{scheme}://{to}:{self.receiver.server_port}",
                            "--service", "my{api}", "--service-version", "1.3", "--host", "h1",
                            *options, path)
        self.assertEqual(done.status, status, str(done))
        return done

    def profile(self, path):
        """Returns the recording as -f pprof writes it."""
        done = self.run_one("report", "-q", "-f", "pprof", "-o", self.path("out"), path)
        self.assertEqual(done.status, 0, str(done))
        with open(self.path("out"), "rb") as file:
            return file.read()

    def test_pyroscope(self):
        path = self.record()
        self.send("pyroscope+http", path)
        [(target, headers, body)] = self.receiver.requests
        url = urllib.parse.urlsplit(target)
        query = urllib.parse.parse_qs(url.query, strict_parsing=True)
        self.assertEqual(url.path, "/ingest")
        self.assertEqual(query["name"], ["my_api_{service_version=1.3,host=h1}"])
        self.assertLess(int(query["from"][0]), int(query["until"][0]))
        form = email.message_from_bytes(b"Content-Type: " + headers["Content-Type"].encode() +
                                        b"\r\n\r\n" + body)
        parts = {part.get_param("name", header="Content-Disposition"):
                 part.get_payload(decode=True) for part in form.get_payload()}
        self.assertEqual(set(parts), {"profile", "sample_type_config"})
        self.assertEqual(parts["profile"], self.profile(path))
        self.assertEqual(set(json.loads(parts["sample_type_config"])),
                         {"calls", "wall", "cpu", "off"})

    def test_parca(self):
        path = self.record()
        self.send("parca+http", path)
        [(target, headers, body)] = self.receiver.requests
        self.assertEqual((target, headers["Content-Type"]),
                         ("/api/profiles/writeraw", "application/json"))
        [series] = json.loads(body)["series"]
        labels = {label["name"]: label["value"] for label in series["labels"]["labels"]}
        self.assertEqual(labels, {"__name__": "proftrace", "job": "my{api}", "version": "1.3",
                                  "instance": "h1"})
        [sample] = series["samples"]
        self.assertEqual(base64.b64decode(sample["rawProfile"], validate=True), self.profile(path))

    def test_certificates(self):
        path, key, certificate = self.record(), self.path("key.pem"), self.path("certificate.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key,
                        "-out", certificate, "-days", "2", "-subj", "/CN=localhost", "-addext",
                        "subjectAltName=DNS:localhost"], check=True, stderr=subprocess.DEVNULL)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.receiver.socket = context.wrap_socket(self.receiver.socket, server_side=True)
        for options, to in (((), "localhost"), (("--ca-file", certificate), "127.0.0.1")):
            done = self.send("parca+https", path, *options, status=1, to=to)
            self.assertRegex(done.stderr, r"\Aproftrace: .* was not sent: .*\n\Z")
        self.assertEqual(self.receiver.requests, [])
        self.send("parca+https", path, "--ca-file", certificate, to="localhost")
        self.assertEqual(len(self.receiver.requests), 1)

    def test_refused(self):
        path = self.record()
        for self.receiver.status, tries in (400, 1), (503, 4):
            before = len(self.receiver.requests)
            done = self.send("parca+http", path, status=1)
            self.assertEqual(len(self.receiver.requests), before + tries)
            said = rf"proftrace: .*status {self.receiver.status}: {{}}"
            self.assertRegex(done.stderr,
                             rf"\A({said}, again in \d s\n){{{tries - 1}}}{said}\n\Z")


if __name__ == "__main__":
    harness.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""A web server for scripts/bench: "web.py PORT" answers with a list, written as JSON, and at
/status with how often it has done so."""

import http.server
import json
import sys
import threading

ITEMS = [{"name": f"item {number}", "number": number * number} for number in range(20)]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 65536 # one packet an answer
    answered, lock = 0, threading.Lock()

    def do_GET(self): # pylint: disable=invalid-name
        if self.path == "/status":
            self.answer(str(Handler.answered))
            return
        with self.lock:
            Handler.answered += 1
        self.answer(json.dumps(ITEMS))

    def answer(self, text):
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_): # pylint: disable=arguments-differ
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()

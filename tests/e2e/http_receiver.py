# SPDX-License-Identifier: GPL-2.0-or-later
"""A server of HTTP on a free port of this machine, which serves in a thread of its own."""

import http.server
import threading


class HttpReceiver(http.server.HTTPServer):
    """The handler keeps the requests that it has had in `requests`."""

    def __init__(self, handler):
        super().__init__(("127.0.0.1", 0), handler)
        self.requests = []
        self.thread = threading.Thread(target=self.serve_forever, daemon=True)
        self.thread.start()

    def end(self):
        self.shutdown()
        self.thread.join()
        self.server_close()

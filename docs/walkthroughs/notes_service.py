#!/usr/bin/env python3
"""A notes service over HTTP, as small as one can be: python3 notes_service.py PORT

    GET  /notes?q=TEXT&limit=N   the notes that hold TEXT: {"notes": [...], "total": N}
    GET  /notes/ID               one note
    POST /notes                  keeps {"title": ..., "text": ..., "tags": [...]}

Every request needs the header `Authorization: Bearer TOKEN` with the token in NOTES_TOKEN. The
notes live as long as the process.
"""

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

TOKEN = os.environ.get("NOTES_TOKEN", "")
NOTES = [
    {
        "id": 1,
        "title": "Rate limits",
        "text": "The public API answers 100 requests a minute, then 429.",
        "tags": ["api"],
        "created": 1767225600,
    },
    {
        "id": 2,
        "title": "Deploys",
        "text": "We deploy on Tuesdays; the limit is four a day.",
        "tags": ["release"],
        "created": 1769904000,
    },
]


class Service(BaseHTTPRequestHandler):
    def do_GET(self):
        if not self.is_allowed():
            return
        url = urlsplit(self.path)
        if url.path == "/notes":
            asked = parse_qs(url.query)
            words = asked.get("q", [""])[0].lower()
            limit = int(asked.get("limit", ["10"])[0])
            found = [note for note in NOTES if words in f"{note['title']} {note['text']}".lower()]
            self.answer(200, {"notes": found[:limit], "total": len(found)})
            return
        wanted = unquote(url.path.removeprefix("/notes/"))
        for note in NOTES:
            if str(note["id"]) == wanted:
                self.answer(200, note)
                return
        self.answer(404, {"error": f"there is no note {wanted}"})

    def do_POST(self):
        if not self.is_allowed():
            return
        length = int(self.headers.get("Content-Length", "0"))
        note = json.loads(self.rfile.read(length))
        kept = {"id": len(NOTES) + 1, **note}
        NOTES.append(kept)
        self.answer(201, {"message": f"kept as note {kept['id']}"})

    def is_allowed(self):
        if TOKEN and self.headers.get("Authorization") == f"Bearer {TOKEN}":
            return True
        self.answer(401, {"error": "the token is missing or wrong"})
        return False

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8765
    server = ThreadingHTTPServer(("127.0.0.1", port), Service)
    print(f"Notes at http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()

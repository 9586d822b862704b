"""A webhook receiver on http.server for tests of check-receiver: python3 receiver.py PORT FILE FAULT.

It stores each event as a line of FILE and lists them at GET /stored. FAULT is "none", or one of the names below.
The secret is in WEBHOOK_SECRET.
"""
import base64
import hashlib
import hmac
import json
import os
import queue
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

port, file, fault = sys.argv[1:4]
secret = os.environ["WEBHOOK_SECRET"].encode()
lock = threading.Lock()
events_in_memory = []
delayed_events = []
requests_in_progress = 0
count = 0


def stored_lines():
    with open(file, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.endswith("\n")]


def key_of(event):
    return event["request_id"] if fault == "dedupes-on-request-id" else (event["request_id"], event["status"])


open(file, "a").close()
# Keys of the stored events, read from the file so that duplicates are found after a restart too.
stored_keys = set() if fault == "forgets-at-restart" else {key_of(event) for event in stored_lines()}


def write_event(event):
    if fault == "memory-only":
        events_in_memory.append(event)
        return
    with open(file, "a", encoding="utf-8") as lines:
        lines.write(json.dumps(event) + "\n")
        lines.flush()
        os.fsync(lines.fileno())


def store_event(event):
    global count
    with lock:
        count += 1
        if fault == "loses-under-load" and requests_in_progress > 8 and count % 5 == 0:
            return
        key = key_of(event)
        if fault != "never-dedupes" and key in stored_keys:
            return
        stored_keys.add(key)
        event = {key: event[key] for key in ("request_id", "status")}
        if fault != "out-of-order":
            write_event(event)
            return
        # Writes events in pairs, the later one first.
        delayed_events.append(event)
        if len(delayed_events) == 2:
            while delayed_events:
                write_event(delayed_events.pop())


# One thread stores the events that were acknowledged first, so that the early acknowledgement is the only fault.
delayed = queue.Queue()


def store_delayed():
    while True:
        due, event = delayed.get()
        time.sleep(max(0, due - time.monotonic()))
        store_event(event)


threading.Thread(target=store_delayed, daemon=True).start()


def has_valid_signature(body, signature):
    if fault == "any-signature":
        return True
    if signature is None:
        return False
    signed = body
    if fault == "re-serialised":
        signed = json.dumps(json.loads(body), separators=(",", ":"), ensure_ascii=False).encode()
    mac = hmac.new(secret, signed, hashlib.sha256)
    if fault == "base64":
        return signature == base64.b64encode(mac.digest()).decode()
    if fault == "equals":
        return signature == mac.hexdigest()
    return hmac.compare_digest(mac.hexdigest().encode(), signature.encode())


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body=b""):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def do_GET(self):
        if self.path == "/stored":
            with lock:
                events = list(events_in_memory) if fault == "memory-only" else stored_lines() + delayed_events
            self.reply(200, json.dumps(events).encode())
        else:
            self.reply(200 if fault == "accepts-get" else 405)

    def read_body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def do_POST(self):
        global requests_in_progress
        requests_in_progress += 1
        try:
            self.receive()
        except Exception:
            self.reply(500)
        finally:
            requests_in_progress -= 1

    def receive(self):
        body = self.read_body()
        try:
            event = json.loads(body)
        except ValueError:
            event = None
        valid = isinstance(event, dict) and all(isinstance(event.get(key), str) for key in ("request_id", "status"))
        signatures = self.headers.get_all("X-Service-Signature") or []
        if not has_valid_signature(body, ", ".join(signatures) if signatures else None):
            if fault == "keeps-forged" and valid:
                store_event(event)
            return self.reply(401)
        if not valid:
            return self.reply(400)
        repeated = (event["request_id"], event["status"]) in stored_keys
        if fault == "slow":
            time.sleep(1.2)
        if fault == "500-to-repeats" and repeated:
            return self.reply(500)
        if fault == "acknowledges-first":
            # Queued before the answer, since the next event may come at once.
            delayed.put((time.monotonic() + 0.1, event))
            return self.reply(204)
        if fault == "loses-under-load":
            time.sleep(0.005)
        store_event(event)
        return self.reply(204)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


Server(("127.0.0.1", int(port)), Receiver).serve_forever()

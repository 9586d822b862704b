import hashlib
import hmac
import json
import os

from flask import Flask, request

secret = os.environ["REFCHECK_WEBHOOK_SECRET"].encode()
if not secret:
    raise SystemExit("set REFCHECK_WEBHOOK_SECRET")

# Replace this by a table of your database with the key (request_id, status): events may be delivered again.
events = {}

app = Flask(__name__)


@app.post("/")
def receive():
    body = request.get_data()  # the exact bytes, before anything parses them
    expected = hmac.new(secret, body, hashlib.sha256).hexdigest()
    received = request.headers.get("X-Service-Signature", "")
    if not hmac.compare_digest(expected.encode(), received.encode()):
        return "", 401
    try:
        event = json.loads(body)
        key = f"{event['request_id']} {event['status']}"
    except (ValueError, TypeError, KeyError):
        return "", 400
    events[key] = event
    return "", 204


if __name__ == "__main__":
    app.run(host="127.0.0.1", port=int(os.environ["PORT"]))

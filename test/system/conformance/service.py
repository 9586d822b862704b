"""A small service on http.server, written from the API document alone. `python3 service.py [DEFECT]` prints its port."""

import hashlib
import json
import re
import sys
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

DEFECT = sys.argv[1] if len(sys.argv) > 1 else ""
KEY, FOREIGN_KEY = "p" * 31 + "Y", "q" * 31 + "Z"
# The users of each API key, with their roles.
USERS = {
    KEY: [("pia@py.example.org", "owner"), ("moe@py.example.org", "member")],
    FOREIGN_KEY: [("far@py.example.org", "admin")],
}
# The status of each package, the roles that see it, and the fields of its checks: (type, is required).
PACKAGES = {
    1: ("ACTIVE", {"owner", "member"}, {}),
    2: ("ACTIVE", {"owner", "member"}, {"police": {"born": ("string", True), "years": ("integer", False)}}),
    3: ("ACTIVE", {"owner"}, {}),
    4: ("INACTIVE", {"owner", "member"}, {}),
    5: ("DISABLED", {"owner", "member"}, {}),
}
TYPES = {"string": str, "integer": int}
ORDERS = {}
PDF = b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n"


class Refusal(Exception):
    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def uid(text):
    return str(uuid.uuid5(uuid.NAMESPACE_URL, text))


def signed(path, until):
    return hashlib.sha256(f"salt {path} {until}".encode()).hexdigest() + f"-{until}"


def package(pid):
    status, _, _ = PACKAGES[pid]
    checks = [{"check_name": "Police", "partner_name": "Partner"}]
    return {"id": pid, "name": f"Package {pid}", "status": status,
            "details": {"reference_survey": None, "background_checks": checks}}


def schema(pid):
    person = {name: {"type": "string", "required": True} for name in ("first_name", "last_name", "email", "phone")}
    extra = [
        {"display_name": code, "code": code,
         "fields": {name: {"type": kind, "required": must, "description": name} for name, (kind, must) in fields.items()}}
        for code, fields in PACKAGES[pid][2].items()
    ]
    return {"id": pid, "fields": {"recipient": person, "additional_information": extra}}


def require(condition, path, reason):
    if not condition:
        raise Refusal(400, f"{path}: {reason}" if DEFECT != "message-without-path" else reason)


def validate(body, visible_ids):
    require(isinstance(body, dict), "body", "not an object")
    pid = body.get("package_id")
    require(type(pid) is int, "package_id", "an integer is required")
    person = body.get("recipient")
    require(isinstance(person, dict), "recipient", "an object is required")
    for name in ("first_name", "last_name", "email", "phone"):
        require(isinstance(person.get(name), str) and person[name] != "", f"recipient.{name}", "a string is required")
    if DEFECT != "any-email":
        require(re.fullmatch(r"[^@\s]+@[^@\s]+\.\w+", person["email"]), "recipient.email", "not an address")
    max_digits = 15 if DEFECT != "phone-of-16" else 16
    require(re.fullmatch(r"\+[1-9]\d{3,%d}" % (max_digits - 1), person["phone"]), "recipient.phone", "not E.164")
    if pid not in visible_ids or PACKAGES[pid][0] == "DISABLED":
        raise Refusal(404, "package not found")
    require(PACKAGES[pid][0] == "ACTIVE" or DEFECT == "orders-inactive", "package_id", "not ACTIVE")
    information = body.get("additional_information", [])
    require(isinstance(information, list), "additional_information", "not an array")
    codes = set()
    for at, entry in enumerate(information):
        path = f"additional_information[{at}]"
        require(isinstance(entry, dict) and isinstance(entry.get("code"), str), f"{path}.code", "a code is required")
        code, fields = entry["code"], entry.get("fields")
        require(code in PACKAGES[pid][2], f"{path}.code", "unknown")
        require(code not in codes or DEFECT == "code-twice", f"{path}.code", "given twice")
        codes.add(code)
        require(isinstance(fields, dict), f"{path}.fields", "not an object")
        known = PACKAGES[pid][2][code]
        for name in fields:
            require(name in known, f"{path}.fields.{name}", "unknown")
        for name, (kind, must) in known.items():
            require(name in fields or not must, f"{path}.fields.{name}", "required")
            if name in fields and DEFECT != "any-type":
                require(type(fields[name]) is TYPES[kind], f"{path}.fields.{name}", f"not of type {kind}")
    for code in PACKAGES[pid][2]:
        require(code in codes, f"additional_information.{code}", "required")
    return person


def request_view(order, base):
    seconds = time.time() - order["at"]
    status = "RECEIVED" if seconds < 1 else "IN_PROGRESS" if seconds < 2 else "COMPLETED"
    path = f"/v1/reports/{order['check']}"
    url = f"{base}{path}?t={signed(path, int((time.time() + 3600) * 1000))}" if status == "COMPLETED" else None
    check = {"id": order["check"], "type": "background", "status": status, "partner_name": "Partner",
             "check_name": "Police", "report_pdf_url": url}
    if DEFECT == "check-without-id":
        check["id"] = None
    if DEFECT == "same-url" and url is not None:
        check["report_pdf_url"] = f"{base}{path}?t={signed(path, 9999999999999)}"
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(order["at"]))
    person = order["person"] if DEFECT != "trims-names" else {**order["person"], "last_name": order["person"]["last_name"][:5]}
    return {"request_id": order["id"], "package_id": order["package"], "status": status, "created_at": created,
            "requester": {"email": order["by"]}, "recipient": person, "checks": [check]}


class Service(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer(self.get)

    def do_POST(self):
        self.answer(self.post)

    def answer(self, handle):
        parts = urlsplit(self.path)
        try:
            status, data = handle(parts.path, parse_qs(parts.query))
            message = ""
        except Refusal as refusal:
            status, data, message = refusal.status, None, str(refusal)
        kind = "ok" if status < 400 else "client_error"
        if DEFECT == "kind-of-404" and status == 404:
            kind = "not_found"
        body = data if isinstance(data, bytes) else json.dumps(
            {"data": data, "status_message": kind, "message": message}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/pdf" if isinstance(data, bytes) else "application/json")
        if DEFECT != "report-may-be-cached" or not isinstance(data, bytes):
            self.send_header("Cache-Control", "no-store")
        self.send_header("Pragma", "no-cache")
        self.send_header("Expires", "0")
        self.end_headers()
        self.wfile.write(body)

    def caller(self):
        key = self.headers.get("X-Service-API-Key")
        email = self.headers.get("X-Service-User-Email")
        if key not in USERS or not email:
            raise Refusal(401, "authentication headers missing or invalid")
        for address, role in USERS[key]:
            if address == email or DEFECT == "any-user":
                return key, address, role
        raise Refusal(403, "user not a member of the organisation")

    def visible(self, key, role):
        return [pid for pid, (_, roles, _) in PACKAGES.items() if key == KEY and role in roles]

    def get(self, path, query):
        if path == "/v1/ping":
            return 200, {"status": "up"}
        report = re.fullmatch(r"/v1/reports/([^/]+)(/referees/[^/]+)?", path)
        if report and "t" in query:
            mac, _, until = query["t"][0].rpartition("-")
            good = until.isdigit() and int(until) > time.time() * 1000
            if not good or (query["t"][0] != signed(path, int(until)) and DEFECT != "any-token"):
                raise Refusal(401, "invalid or expired token")
            return self.report(report, KEY)
        if not path.startswith("/v1/"):
            raise Refusal(404, "not found")
        key, _, role = self.caller()
        visible_ids = self.visible(key, role)
        if report:
            return self.report(report, key)
        if path == "/v1/users":
            return 200, {"users": [self.user(*each) for each in USERS[key]]}
        if path == "/v1/packages":
            status = query.get("status", [None])[0]
            if status not in (None, "active", "inactive", "disabled"):
                raise Refusal(400, "status: unsupported")
            wanted = query.get("id", [None])[0]
            return 200, {"packages": [
                package(pid) for pid in visible_ids
                if status in (None, PACKAGES[pid][0].lower()) and (wanted in (None, str(pid)) or DEFECT == "no-id-filter")]}
        found = re.fullmatch(r"/v1/packages/(\d+)/schema", path)
        if found and (int(found[1]) in visible_ids or (DEFECT == "any-role" and int(found[1]) in PACKAGES)):
            return 200, schema(int(found[1]))
        order = ORDERS.get(path.removeprefix("/v1/requests/"))
        if order and (order["key"] == key or DEFECT == "any-organisation"):
            return 200, request_view(order, f"http://{self.headers['Host']}")
        raise Refusal(404, "resource not found")

    def report(self, found, key):
        for order in ORDERS.values():
            ready = time.time() - order["at"] >= 2
            if order["check"] == found[1] and found[2] is None and ready and order["key"] == key:
                return 200, PDF
        raise Refusal(404, "report not found")

    def user(self, email, role):
        view = {"id": uid(email), "first_name": "A", "last_name": "B", "email": email, "role": role, "teams": [],
                "job_title": ""}
        return {**view, "permissions": ["bgc.requestor"]} if role == "member" else view

    def post(self, path, _):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if path != "/v1/requests":
            raise Refusal(404, "not found")
        key, email, role = self.caller()
        require(self.headers.get_content_type() == "application/json" and "Content-Type" in self.headers,
             "Content-Type", "application/json is required")
        try:
            order = json.loads(body)
        except ValueError:
            raise Refusal(400, "body: invalid JSON")
        person = validate(order, self.visible(key, role))
        rid = str(uuid.uuid4())
        ORDERS[rid] = {"id": rid, "key": key, "by": email, "person": person, "package": order["package_id"],
                       "check": uid(rid), "at": time.time()}
        return 201, {"request_id": rid, "status": "RECEIVED"}


server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
print(server.server_address[1], flush=True)
server.serve_forever()

/** The text of `refcheck help webhooks`. */
export default `WEBHOOKS
  The service sends a signed event whenever the status of a request changes.
  Set the webhook secret once:

    $ refcheck config set webhook-secret

  or use REFCHECK_WEBHOOK_SECRET, or --secret-file FILE.

RECEIVE EVENTS
    $ refcheck webhook listen --forward-to http://localhost:3000/hooks

  Each delivery is verified over its exact bytes, recorded on disk,
  acknowledged, and only then forwarded. A failed forward is retried, also
  after a restart, in order within a request. A duplicate delivery is
  acknowledged and forwarded once. Instead of a URL, --exec './on-event.sh'
  runs a program, with the event on its standard input and without keys, secrets
  and passwords in its environment; refcheck in it uses the same store and
  profile. --forward-ca FILE trusts the certificate, or the authority, of an
  https URL of your own.

  The service delivers to https only: put a proxy in front, or use --tls-cert
  and --tls-key.

  The received events settle orders with an unknown outcome, and save
  "request wait" most of its calls.

LOOK AT RECEIVED EVENTS
    $ refcheck webhook events list --since 1d
    $ refcheck webhook events show 17
    $ refcheck webhook events replay 17 --to http://localhost:3000/hooks
    $ refcheck webhook events list --export events.ndjson
    $ refcheck webhook events import captured.ndjson

VERIFY A CAPTURED EVENT
    $ refcheck webhook verify body.json --signature HEX
    $ refcheck webhook verify --http request.txt
    $ refcheck webhook verify --all deliveries.ndjson

  --http takes a request with its headers: raw, from "curl -v", or the text of a
  request bin. --har takes an HTTP archive, --all a log with one JSON object a
  line: {signature, body}, {headers, body} or {signature, body_base64}.

  If the signature does not match, refcheck tries what commonly happens to a
  body (a newline added by an editor, re-serialised JSON, base64) and names the
  cause. The delivery stays refused: exit 9.

    $ refcheck webhook sign body.json      # the signature a sender would make

TEST YOUR OWN RECEIVER
    $ refcheck webhook send --to http://127.0.0.1:3000/hook --status PARTIAL
    $ refcheck webhook send --to http://127.0.0.1:3000/hook --out-of-order
    $ refcheck webhook send --to http://127.0.0.1:3000/hook --bad-signature
    $ refcheck webhook check-receiver http://127.0.0.1:3000/hook

  check-receiver sends everything the service may send: forged signatures,
  duplicates, wrong order, new fields, unusual but valid JSON. Each failure
  names the rule of the API document. What the document leaves open is advice,
  and a failure with --strict. --junit FILE is for CI. To judge what is stored:

    $ refcheck webhook check-receiver http://127.0.0.1:3000/hook \\
        --stored-url http://127.0.0.1:3000/stored --restart 'node receiver.js'

RULES FOR A RECEIVER
  1. Take the raw bytes of the body. Verify before parsing.
  2. X-Service-Signature is the lowercase hex HMAC-SHA256 of those bytes, keyed
     with the webhook secret. Compare in constant time.
  3. Store the event, answer 2xx within 10 seconds, process it afterwards.
  4. Expect duplicates and a wrong order: (request_id, status) identifies an
     event.
`

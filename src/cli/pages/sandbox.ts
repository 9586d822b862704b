/** `refcheck help sandbox`. */
export default `SANDBOX
  The whole service on this machine, to practise and to test against. No order
  is real, and nothing leaves the machine.

START
    $ refcheck sandbox start --speed 600 --login

  saves the profile "sandbox" and uses it: in a second terminal every command
  works. Requests are COMPLETED within an hour, or in six seconds with
  --speed 600. The address that it prints has a page that shows what happens,
  with buttons to advance a request, inject a fault and redeliver an event.
  Ctrl-C stops it. Afterwards return to your own profile:

    $ refcheck auth switch acme

ASK FOR A SCENARIO
  The e-mail of the person chooses what happens to a request:

    $ refcheck sandbox scenarios
    $ refcheck request create --package 102 --first-name Jane \\
        --last-name Doe --email jane+declined@example.com \\
        --phone +61412345678 --yes

MAKE CALLS FAIL
    $ refcheck sandbox inject declined --times 3
    $ refcheck sandbox inject --on 'POST /v1/requests' \\
        --fault '{"kind":"cut","when":"after"}'
    $ refcheck sandbox inject --on '*' --times 100 \\
        --fault '{"kind":"latency","ms":800,"when":"after"}'
    $ refcheck sandbox inject --clear
    $ refcheck sandbox renew-key      # another API key; the old one is revoked

WATCH AND CHANGE IT
    $ refcheck sandbox logs --follow
    $ refcheck sandbox set webhook-url http://127.0.0.1:3000/hooks
    $ refcheck sandbox set credits 3
    $ refcheck sandbox redeliver 6b450a6d-74f9-474b-95f9-ba6b11a8536f

MOVE THE CLOCK
    $ refcheck sandbox start --clock manual
    $ refcheck sandbox advance 2h

KEEP AND RESTORE ITS STATE
    $ refcheck sandbox start --data state.sqlite
    $ refcheck sandbox snapshot > before.json
    $ refcheck sandbox restore before.json
    $ refcheck sandbox reset

YOUR OWN ORGANISATION
    $ refcheck sandbox start --fixture org.yaml     # users, packages, keys
    $ refcheck sandbox rules      # what the API document leaves open
    $ refcheck sandbox rules support-creates=yes

IN A TEST SUITE
    $ refcheck sandbox start --port 0 --speed 600 --json

  prints one line when it is ready: base_url, api_key, user_email and
  webhook_secret. --webhook-url URL delivers every change of status there, and
  --quota 5/10,100/3600 sets the quota windows.

FOR OTHER MACHINES AND CONTAINERS
    $ refcheck sandbox start --allow-http-from 172.16.0.0/12

  takes http from that network and from this machine, and sends events there by
  http. By https: --host 0.0.0.0 --tls-cert FILE --tls-key FILE. Behind a proxy
  --public-url URL is where report URLs lead. What steers the sandbox needs its
  control_token then: sandbox start prints it; REFCHECK_SANDBOX_TOKEN names it.
  Any container with Node 24 runs it: npx --yes --package refcheck-0.1.0.tgz
  refcheck sandbox start …; it is ready when GET /v1/ping answers 200.

THE API DOCUMENT
    $ refcheck sandbox openapi > openapi.json
    $ refcheck sandbox conformance      # check a deployment against every rule

  conformance only reads, unless --allow-create is given.
`

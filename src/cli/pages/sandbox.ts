/** The text of `refcheck help sandbox`. */
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
    $ refcheck sandbox inject --clear

WATCH AND CHANGE IT
    $ refcheck sandbox logs --follow --bodies
    $ refcheck sandbox trigger late --to http://127.0.0.1:3000/hooks
    $ refcheck sandbox advance 2h
    $ refcheck sandbox snapshot > before.json

  advance moves the clock of a sandbox started with --clock manual. Started with
  --data FILE it keeps its state, and with --fixture org.yaml it has users,
  packages and keys of your own.

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
  It is ready when GET /v1/ping answers 200.
`

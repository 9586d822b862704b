/** The text of `refcheck help scripts`. */
export default `SCRIPTS
  What a script can rely on. Exit codes: refcheck help exit-codes

STREAMS
  stdout carries the result and nothing else; notes, questions, warnings and
  errors go to stderr. Without a terminal nothing is asked: give --yes.

  --quiet      print only the result and errors
  --verbose    print a line for each HTTP exchange, secrets masked
  --no-color   also: NO_COLOR=1

JSON
    $ refcheck packages list --json
    $ refcheck batch status 3f2b8c1e --json

  --json prints one document: the resource itself, without the envelope of the
  API. Times are ISO 8601 in UTC. Keys may be added, and are never removed; the
  JSON Schema of each command:

    $ refcheck reference --output-schema 'batch run'

  A failure prints {"error": {"code", "message", "hint", "status", "field",
  "retry_after"}}, without the keys that do not apply, and its message as one
  line on stderr (not with --quiet). "problems" lists several problems of an
  input, and a duplicate names the order that it matches. A command that has a
  result prints it at any exit code, with "error" added. In an array, an item
  that could not be read has its own "error" in its place.

JQ
    $ refcheck packages list --jq '.[] | select(.status == "ACTIVE") | .id'

  --jq takes an expression of jq 1.8, which is built in, and implies --json.
  Strings print raw, one result a line. A failure is on stderr; one without a
  result prints nothing on stdout.

ANY READ
    $ refcheck api GET '/v1/packages?status=active'

  prints an answer of the API as it is, with its envelope; secrets are masked.

LISTS
    $ refcheck packages list --csv --columns id,name
    $ refcheck request list --sort=-ordered_at --no-header

  --columns chooses columns and their order, --sort sorts by one (-COLUMN in
  reverse), --csv prints CSV.

WAITING
  A read is tried up to 4 times. An order is never sent twice. If the quota is
  used up (429) the command waits and says so, up to --timeout (default 2m; no
  limit for waits and batches). Set another default:

    $ refcheck config set timeout 5m

THE QUOTA
  A key has 60 calls a minute and 1,000 an hour. All commands on one store count
  together, so that they stay inside, in as many terminals as you like:

    $ refcheck quota

  - An order goes first. Commands that wait share what is left, and leave some
    of it for other commands.
  - Other programs with the same key are noticed when the service refuses a
    call; what it says then overrides the count.
  - request wait reads a request less often the longer its status stays the
    same. If webhook listen runs on the same store, it reads when an event
    arrives.
  - REFCHECK_QUOTA=5/10,100/3600 is for a sandbox started with that --quota.
`

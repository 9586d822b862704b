/** The text of `refcheck help safety`. */
export default `SAFETY
  How refcheck keeps people from being ordered twice, and what it asks of you.
  The store records each order before it is sent. Use one store, and keep it.

DUPLICATE ROWS
  The same package for the same person was ordered before, or is in an earlier
  row. The row is not sent. To order people once more, for example a year later
  (from a file not within 7 days, by the clock of this machine, or of the
  database; then rows are held):

    $ refcheck batch run people.csv --package 102 --allow-duplicate

HELD ROWS
  Somebody similar was ordered, or is in an earlier row. Similar is: the same
  e-mail; or the same phone, and at most a third of the letters of the longer
  first name differ (1 of 3 to 5, 2 of 6 to 8; two neighbours that changed
  places are one; capitals, accents and punctuation do not count), or first and
  last name are swapped, or a first name is empty. Only you can tell who it is.

    $ refcheck batch rows 3f2b8c1e --state held
    $ refcheck batch release 3f2b8c1e --row 12    # two people: may be sent
    $ refcheck batch cancel 3f2b8c1e --row 13     # the same person
    $ refcheck batch resume 3f2b8c1e              # sends what was released

  If many people share an address, such as that of an agency, say so once
  (--allow-similar orders all rows of a file that are similar to one another):

    $ refcheck batch release 3f2b8c1e --shared office@agency.example
    $ refcheck batch run people.csv --package 102 --shared office@agency.example

UNKNOWN ROWS
  The answer was lost, so the person may have been ordered. The row is never
  sent again by itself. Look for proof in the received webhook events:

    $ refcheck batch reconcile
    $ refcheck batch reconcile 3f2b8c1e --events captured.ndjson

  Without proof, ask the provider whether they have a request for the person,
  and record the answer: they have it and this is its id (--request-id), they do
  not have it and it is ordered now (--confirm-email, from 15 minutes after the
  attempt), or nobody knows and it is never sent (--drop). On a terminal you are
  asked about each row. For a row that was recovered without its recipient,
  --confirm-email closes the row, and the person can then be ordered.
    $ refcheck batch reconcile 3f2b8c1e --row 2 \\
        --request-id 9d3c1a52-6f0e-4b7d-8a21-5c4e7f90b3d6
    $ refcheck batch reconcile 3f2b8c1e --row 2 --confirm-email mei@example.com
    $ refcheck batch reconcile 3f2b8c1e --row 2 --drop

  A "possible second order" is a request that was not ordered with this store,
  for a person who was. A new order for the person of such a request is held
  until you release it. Ask the provider, then acknowledge it:

    $ refcheck batch reconcile \\
        --acknowledge 9d3c1a52-6f0e-4b7d-8a21-5c4e7f90b3d6

THE STORE
    $ refcheck store info
    $ refcheck store check
    $ refcheck store backup refcheck-backup.sqlite

  An attempt log next to the settings shows when the store is older than it
  should be, such as after a restore. Then nothing is ordered. store check, run
  on every machine that ordered, recovers what is missing (--without hr-2: one
  that does not come back). To restore a backup, stop refcheck, copy it over
  the store file, remove that file's -wal and -shm, run store check --restored.
  If no newer copy exists, on one of them: refcheck store check --accept-older
  Not noticed: a snapshot newer than all that a machine saw; one that first sent
  in the lost window and died; two live primaries; identical clones of a
  machine; a store put back with its log; orders by another program.

SEVERAL BASE URLS, SEVERAL ORGANISATIONS
  Say once whether two base URLs are the same service (--different: not). One
  store for several organisations: give each its account. An order under an
  account that was not added is refused, since its name may be misspelled.

    $ refcheck store same-service https://old.example.com \\
        https://api.example.com
    $ refcheck store accounts add acme
    $ refcheck config set account acme --profile acme
`

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
  for a person who was. A new order for the person is held: release it, or
  record that request for it (--request-id). Ask the provider, then acknowledge:
    $ refcheck batch reconcile \\
        --acknowledge 9d3c1a52-6f0e-4b7d-8a21-5c4e7f90b3d6

THE STORE
    $ refcheck store info
    $ refcheck store check
    $ refcheck store backup refcheck-backup.sqlite
  Each machine has an attempt log next to its settings. It shows if the store is
  older than it should be, for example after a restore. Then nothing is ordered
  until store check was run on every machine that ordered with the store; this
  adds the missing orders. If machine hr-2 was lost: store check --without hr-2
  To restore a backup, stop refcheck, copy the backup over the store file, then
  delete that file's -wal and -shm files, and run: store check --restored
  Last, on one machine, open the store again: store check --accept-older. Rows
  that it holds may have been ordered: release each with batch release --row N.

  Not noticed: a snapshot newer than all orders that a machine saw; orders of a
  lost machine that first ordered after the snapshot was made; two primaries
  in use at once; identical clones of a machine; a store that was restored with
  its attempt log; orders by another program.

SEVERAL BASE URLS, SEVERAL ORGANISATIONS
  Say once whether two base URLs are the same service (--different: not). One
  store for several organisations: give each its account. An order under an
  account that was not added is refused, since its name may be misspelled.
    $ refcheck store same-service https://old.example https://new.example
    $ refcheck store accounts add acme
    $ refcheck config set account acme --profile acme
`

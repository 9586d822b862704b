/** `refcheck help batches`. */
export default `BATCHES
  A batch orders checks for every person in a file. No person is ordered twice,
  and no order is lost, whatever stops it.

CHECK, THEN RUN
    $ refcheck batch validate people.csv --package 102
    $ refcheck batch run people.csv --package 102

  batch run checks every row, shows the plan, asks for confirmation, and orders
  row by row within the quota (1,000 orders an hour).

STOP AND CONTINUE
  Press Ctrl-C at any time; the row in flight is finished. Run the same file
  again, or resume the batch. Rows that were sent are not sent again:

    $ refcheck batch list
    $ refcheck batch resume 3f2b8c1e

  A problem that affects every row halts the batch: a revoked key, no credits,
  a package that was replaced. Fix it, then resume.

STATES OF A ROW
  pending     not sent yet
  sending     in flight
  accepted    the service answered 201; request_id is known
  rejected    the service refused it; nothing was ordered
  unknown     sent, but nobody knows whether it was accepted
  duplicate   the same order exists: in this file, or made before
  held        somebody similar was ordered before, or is in an earlier row
  invalid     breaks a rule of the package; not sent
  cancelled   cancelled before it was sent
  dropped     was unknown, and a person gave it up

    $ refcheck batch status 3f2b8c1e --watch
    $ refcheck batch rows 3f2b8c1e --state rejected,unknown

HELD ROWS
  Only you can tell whether it is one person or two. Release the rows that are
  other people, then resume:

    $ refcheck batch rows 3f2b8c1e --state held
    $ refcheck batch release 3f2b8c1e --row 12
    $ refcheck batch resume 3f2b8c1e

REJECTED ROWS
  If the row is wrong, fix the file and run it again. If the reason was outside
  the file, queue the rows again:

    $ refcheck batch retry 3f2b8c1e
    $ refcheck batch resume 3f2b8c1e

UNKNOWN ROWS
  The answer was lost, so the person may have been ordered. The row is never
  sent again by itself. First look for evidence in the received events:

    $ refcheck batch reconcile 3f2b8c1e

  If there is none, ask the provider's support. If they do not have the
  request, send the row again; --drop in addition gives it up:

    $ refcheck batch reconcile 3f2b8c1e --row 2 \\
        --confirm-email mei@example.com

RESULTS
  people.results.csv, beside people.csv, has the columns of your file, and the
  state, request id and problem of each row. Or write what you need:

    $ refcheck batch export 3f2b8c1e --format html --output march.html
`

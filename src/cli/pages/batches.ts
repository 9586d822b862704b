/** The text of `refcheck help batches`. */
export default `BATCHES
  A batch orders checks for every person in a file. Nobody is ordered twice, and
  nothing is lost, whatever stops it. Which files: refcheck help files

CHECK, PLAN, RUN
    $ refcheck batch validate people.csv --package 102
    $ refcheck batch run people.csv --package 102 --dry-run
    $ refcheck batch run people.csv --package 102

  batch run checks every row, shows the plan, asks for confirmation, and orders
  row by row within the quota (1,000 orders an hour).
  --on-invalid skip orders the valid rows only; --max 50 stops after 50 orders.

  Let somebody else approve the plan first. The run is refused if the file has
  changed since:

    $ refcheck batch plan people.csv --package 102 --output plan.json
    $ refcheck batch run --plan plan.json

  Or queue the file for a worker, here or on another machine (refcheck help
  fleet):

    $ refcheck batch queue people.csv --package 102

STOP AND CONTINUE
  Press Ctrl-C at any time; the row in flight is finished. Then run the same
  file again, under any name, or resume the batch:

    $ refcheck batch list
    $ refcheck batch resume 3f2b8c1e

  A file whose people are all ordered stays as it is; --again makes a new batch.

  A problem that affects every row halts the batch: a revoked key, no credits, a
  package that was replaced. Fix it, then resume. If the package was replaced,
  move what is left to the new one first:

    $ refcheck batch move 3f2b8c1e --package 107

WHERE IT STANDS
    $ refcheck batch status 3f2b8c1e --watch
    $ refcheck batch rows 3f2b8c1e --state rejected,unknown
    $ refcheck request wait --batch 3f2b8c1e --for report

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

  What to do with unknown, duplicate and held rows: refcheck help safety

REJECTED ROWS
  Wrong row: fix the file and run it again. Another reason: send them again:
    $ refcheck batch retry 3f2b8c1e
    $ refcheck batch resume 3f2b8c1e

CANCEL
    $ refcheck batch cancel 3f2b8c1e
    $ refcheck batch cancel 3f2b8c1e --row 12

  cancels rows that were not sent. An accepted order cannot be cancelled.

RESULTS
  people.results.csv, beside people.csv (or --results FILE), has your columns
  and the state, request id, problem and status of each row; report sync and
  request list --refresh update the status. Or write CSV, XLSX, JSON or HTML:

    $ refcheck batch export 3f2b8c1e --format html --output march.html
    $ refcheck batch export 3f2b8c1e --state pending --output rest.csv

  Whom it names, no other store orders again: from people.csv or from this file.
  One that cannot be read, or is empty while a run lasts, stops a new file, but
  for --ignore-results. Other people in people.csv get people.results-2.csv.
`

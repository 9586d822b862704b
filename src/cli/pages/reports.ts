/** The text of `refcheck help reports`. */
export default `REPORTS
  Download finished reports as PDF files, each stored whole or not at all.

KEEP A FOLDER UP TO DATE
    $ refcheck report sync

  downloads every report that is new into the folder of --output, else of the
  setting output-dir; on a terminal it is asked for once and saved. It uses one
  call for each request that is not finished or has a file missing, and none
  for the others. From cron, on work days at 7:

    0 7 * * 1-5  refcheck report sync --output reports --quiet

  With --quiet it prints nothing if nothing is new. Exit 10 if a report that is
  ready could not be downloaded.

DOWNLOAD WHAT YOU NAME
    $ refcheck report download --output reports \\
        --request 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55
    $ refcheck report download --wait --output reports --batch 3f2b8c1e
    $ refcheck report download --all-completed --since 7d --output reports

  --request can be repeated. --wait waits until every report is ready, --open
  opens what was downloaded. A request uses one call of the quota, however many
  reports it has; --concurrency sets how many are downloaded at a time.

ONE REPORT
    $ refcheck report download CHECK_ID --output police.pdf
    $ refcheck report download CHECK_ID --referee 837930
    $ refcheck report download CHECK_ID --output - | lpr
    $ refcheck report download --url - < signed-url.txt

  A signed URL is valid for one hour. refcheck prints none with its token, which
  opens the report for anybody.

WHAT IS IN THE FOLDER
  manifest.csv and manifest.json list each file with its service, ids, person,
  e-mail, package, size, SHA-256 and time; manifest.csv opens in Excel. A file
  that is listed and unchanged is skipped; a damaged one is downloaded again;
  one that somebody changed is left in place and reported. --overwrite replaces
  it. One run at a time works in a folder, with a hidden .refcheck meanwhile.

  A report that cannot be downloaded is listed as "unavailable" with its
  reason, and the exit code is 10.

FILE NAMES
    $ refcheck report sync --output archive \\
        --name-template '{last_name}-{first_name}/{check_name}-{date}.pdf'

  {last_name} {first_name} {email}    the person
  {check_name}                        the check, or "reference-" and the referee
  {referee_name} {referee_id}         of a reference, else empty
  {date}                              day of the order, in UTC
  {id}                                eight characters, unique to the report
  {request_id} {check_id} {package_id}   ids of the service

  A / makes a folder. Names are safe on every system; two that would be equal
  are numbered (-2, -3) and keep their numbers. The default is
  {last_name}-{first_name}_{check_name}_{id}.pdf, which sorts by person.
`

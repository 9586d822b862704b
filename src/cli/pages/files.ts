/** `refcheck help files`. */
export default `FILES THAT YOU GIVE
  CSV, TSV, XLSX, JSON and JSON Lines, as Excel, Google Sheets and applicant
  tracking systems save them. The first row is the header.

  COLUMN                       CONTENT
  first_name, last_name        the person (also recipient.first_name …)
  email                        where the service writes to the person
  phone                        with + and country code, such as +61412345678
  CODE.FIELD                   what a check needs, such as
                               ncc_acic.date_of_birth
  package_id                   only if rows differ; else use --package

  Make a file to fill in, and see the fields of a package:

    $ refcheck schema template 101 --output people.xlsx
    $ refcheck schema show 101

OTHER COLUMN NAMES
  Unknown columns are refused. Map or ignore each of them, and save that under
  a name for the next file:

    $ refcheck batch validate people.csv --package 102 \\
        --map 'Given name=first_name' --ignore Notes --save-mapping hr
    $ refcheck batch validate people.csv --package 102 --mapping hr

VALUES
  - An empty cell is no value.
  - Spaces, ( ), - and . are removed from a phone number that starts with +.
    Numbers without + are read only with --default-country AU.
  - Whatever is changed before sending is shown: old value and new value.
  - Lists and objects are JSON in the cell: ["Ann Lee", "Ann Ray"]
  - Cells that a spreadsheet program has changed (dates, 4.12E+10) are refused
    with their line.

INVALID ROWS
  Write them to a file, each with its problems, fix them there, run that file:

    $ refcheck batch validate people.csv --package 102 --errors invalid.xlsx

FILES THAT REFCHECK WRITES
  people.results.csv      beside people.csv: its columns, and state, request id
                          and problem of each row
  reports/*.pdf           the reports; manifest.csv and manifest.json in the
                          same folder say whose report each file is
  the store               one SQLite file that records every order
  settings and profiles   in the configuration folder

  See where store and settings are:

    $ refcheck store info
    $ refcheck doctor
`

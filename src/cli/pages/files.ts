/** The text of `refcheck help files`. */
export default `FILES THAT YOU GIVE
  CSV, TSV, XLSX, ODS, JSON and JSON Lines, as Excel, LibreOffice, Google Sheets
  and applicant tracking systems save them. The first row is the header. A file
  has at most 100,000 rows and 64 MiB, a workbook at most 256 sheets.

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
  A terminal shows on one screen what each column is; Enter agrees, and files
  with these columns are read so from then on, here and in scripts. Nothing else
  is assumed: a script is refused, or maps, ignores and saves by name:

    $ refcheck batch validate people.csv --package 102 \\
        --map 'Given name=first_name' --ignore Notes --save-mapping hr
    $ refcheck batch validate people.csv --package 102 --mapping hr

HOW THE FILE IS READ
  Where a file can be read in more than one way, you are asked; without a
  terminal it is refused, and these flags answer:

  --sheet NAME            which sheet of a workbook
  --header-row N          the line of the header, below a title
  --hidden include|skip   hidden, filtered and struck-through rows
  --encoding NAME         of a CSV file that is not UTF-8, such as windows-1250
  --default-country CC    country of phone numbers without +, such as AU
  --accept-line N         a name in this line is right although it looks damaged

    $ refcheck config set encoding windows-1250
    $ refcheck config set default-country AU

VALUES
  - An empty cell is no value.
  - Spaces, ( ), - and . are removed from a phone number that starts with +.
  - Whatever is changed before sending is shown; --show-changes shows all of it.
  - Lists are separated by ; or are JSON: ["Ann Lee", "Ann Ray"]. The word none
    is a list without items, where a list is required.
  - Cells that a spreadsheet program has changed (dates, 4.12E+10) are refused
    with their line.

INVALID ROWS
  Write them to a file, each with its problems, fix them there, run that file:

    $ refcheck batch validate people.csv --package 102 --errors invalid.xlsx

FILES THAT REFCHECK WRITES
  people.results.csv   beside people.csv: its columns, and the state, request id
                       and problem of each row
  reports/*.pdf        the reports; manifest.csv says whose report each file is
  the store            records every order: refcheck store info
  settings, profiles   in the configuration folder: refcheck doctor
`

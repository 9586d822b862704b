/** The text of `refcheck help orders`. */
export default `ORDERS
  A single order: checks on one person. For many people see: refcheck help
  batches

STEP BY STEP
    $ refcheck request create

  asks for everything the package needs, field by field, and checks each answer
  as you type. Addresses are asked part by part, lists item by item. The up
  arrow goes back to the question before. Whether the person was ordered before
  is said as soon as the person is known. At the end you can change any answer
  before you confirm. It then prints the same order as one command.

  If you leave, or the order is refused, your answers are kept on this machine
  for 30 days, or until they are ordered or you drop them:

    $ refcheck request create --resume

AS ONE COMMAND
    $ refcheck packages list --status active
    $ refcheck schema show 101
    $ refcheck request create --package 102 --first-name Priya \\
        --last-name Shah --email priya@example.com --phone +61412345678 --yes

  --field ncc_acic.date_of_birth=1990-04-30   what a check needs; repeatable
  --field 'ncc_acic.previous_names=P. Rao; P. Li'   a list, with ; between
  --field 'ncc_acic.residential_address.street=1 High St'   a part of a group
  --default-country AU   read a phone number without + as Australian
  --dry-run              check everything, print the order, send nothing
  --yes                  skip the confirmation; required without a terminal
  --wait                 wait until the request has finished

FROM A FILE
    $ refcheck schema template 101 --output body.json
    $ refcheck request create --file body.json

  A problem then names its JSON path. --file - reads stdin. The JSON Schema of
  the file, for an editor or a program:

    $ refcheck schema show 101 --json-schema > request.schema.json

THE SAME PERSON AGAIN
  The same package for the same person is refused (exit 2); capitals, spaces and
  the punctuation of a phone number do not make another person. It is also
  refused if the package was replaced by this one, or if the person was ordered
  at another base URL. --allow-duplicate orders the same person once more, at
  any time; the question then names the earlier order. In a file, rows that were
  ordered less than 7 days ago are held (refcheck help safety).

  If somebody similar was ordered, you are asked: the same e-mail, or the same
  phone with a similar first name (refcheck help safety). Without a terminal the
  order is refused without --allow-similar. --yes never answers this question.

NO ANSWER (EXIT 8)
  The order may or may not have been accepted. It is recorded as "unknown",
  never sent again by itself, and the same order is refused until you settle it:

    $ refcheck request list --status unknown
    $ refcheck batch reconcile

  See also: refcheck help safety

FOLLOW AN ORDER
    $ refcheck request get 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55
    $ refcheck request get priya
    $ refcheck request wait 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55 \\
        --for report --timeout 2h
    $ refcheck request list --since 7d --refresh
    $ refcheck status

  On a terminal a name or an e-mail stands for the id where one order fits it;
  request wait alone offers what is in flight. request wait ends with exit 0
  when every report is ready, 10 if a request ended CANCELLED or ERROR, 11 if
  --timeout was reached. request list shows what was ordered with this store;
  the API itself has no list. status shows on one screen what is running, what
  needs a decision by a person, and the command for it; status --all names each
  person. One that ended CANCELLED or ERROR stays there until request get showed
  it, or until refcheck status --done REQUEST_ID.
`

/** The text of `refcheck help privacy`. */
export default `PRIVACY
  refcheck handles personal data of the people you check. This page says what
  is kept where, who can read it, and how to remove it.

WHAT IS KEPT
  The store       names, e-mail addresses, phone numbers and the body of every
                  order; received webhook events. One SQLite file, or a
                  PostgreSQL database.
  Results files   the columns of your own file, beside it.
  Reports         PDF files in the folder that you chose.
  Drafts          answers of an order that was not finished, in the data folder;
                  removed when it is ordered or dropped. One older than 30 days
                  is removed when request create --resume is run.
  Order plans     of agents, with the people or the file's name, in the data
                  folder; removed when approved. One that expired more than a
                  day ago is removed when the next plan is made or approved.
  Settings        profiles without keys. The API key and the webhook secret are
                  in the system keychain, or in a file that only you can read
                  if there is no keychain.
  Attempts        beside the settings: a list of what was sent and when, by ids
                  and keyed fingerprints, and the key of the fingerprints, which
                  is in the store too. It names nobody.

  Copies          of schemas and of names of packages, in the data folder; they
                  name nobody.

  These files can be read only by you (mode 0600). If other users could read
  one, refcheck corrects that and says so. If another user owns one, or may
  write to it or to its folder, it is refused.

WHAT IS SENT WHERE
  Orders and reads go to the base URL of the service and nowhere else. There is
  no telemetry. webhook listen forwards events only to the URL or program that
  you give it.

WHAT IS NEVER SHOWN
  API keys (only the last four characters), webhook secrets, the token in a
  report URL, passwords of the store and of a proxy, also where the service
  sends them back. The inbox keeps an event as it was signed. Keys and secrets
  are refused as command-line arguments.

REMOVE DATA
  One person, by e-mail or by a request of theirs, with drafts and order plans:

    $ refcheck store purge --email priya@example.com
    $ refcheck store purge --request-id 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55

  Everything that ended long ago: set for how long the store keeps it. Nothing
  is set at first. A worker removes what is older once a day; without a worker
  run the second line every night from cron. "refcheck doctor" shows the limit.

    $ refcheck config set retention 24mo
    $ refcheck store purge --yes

  Another limit once, and only a count of what it would remove:

    $ refcheck store purge --older-than 365d --dry-run

  What remains names nobody: ids, statuses, and keyed fingerprints of each
  order, so that an old file run again orders no person twice. Somebody who has
  the store and knows a person's details can confirm with them that the person
  was in it. --completely removes the fingerprints too; an old file then
  orders the person again. Rows in flight or unknown are kept.

WHAT PURGE DOES NOT REACH
  A purge of one person lists the files of this machine that still show them.
  --delete-files deletes those that refcheck wrote: results files, exports, plan
  files and reports. Remove these yourself: your own input files, backups of the
  store, files that were moved or copied, files on other machines, captured
  events, what was forwarded to a receiver, and the data at the service.

BACKUPS
  A backup holds the same personal data as the store. Keep it as private:

    $ refcheck store backup refcheck-backup.sqlite
`

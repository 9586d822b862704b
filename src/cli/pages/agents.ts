/** The text of `refcheck help agents`. */
export default `AGENTS
  An agent can read, check and prepare. A person orders. A program that runs an
  agent starts refcheck as a server of the Model Context Protocol (stdio):

    refcheck mcp --profile acme --files ./incoming --reports ./reports

WHAT AN AGENT CAN DO
  Read        packages, schemas, requests, batches, quota, webhook events
  Check       an order, or a file in the folder of --files
  Plan        an order, orders of several people, or of a file
  File        finished reports in the folder of --reports; it sees paths only

  There is no tool that orders, approves, cancels, releases or changes settings.

APPROVE A PLAN
  A plan has a code, which the agent tells you. In a terminal of your own:

    $ refcheck approve KXRT-WMPH
    Plan KXRT-WMPH, prepared by an agent on 2026-11-20 12:00 +00:00, valid until
    2026-11-21 12:00 +00:00.
    It is for http://127.0.0.1:4280 as olive.owner@example.com.
    …
    It uses 1 call of the quota. Left: 58 of 60 in 60 s, 998 of 1000 in 1 h
    Order 102 Identity check only for Mei Tanaka (mei@example.com) at …? yes
    created  6b450a6d-74f9-474b-95f9-ba6b11a8536f  RECEIVED
    Follow it with: refcheck request wait 6b450a6d-74f9-474b-95f9-ba6b11a8536f

  Without a code, refcheck approve lists the plans that wait. A plan
  - is used once, and expires after 24 hours
  - is refused if the order, the file, the profile, the service, the user or the
    account has changed since
  - needs a terminal on stdin, stdout and stderr, and a person who answers the
    question; no flag, setting or variable can answer it
  - goes through the same checks as any order: who was ordered before is
    refused, somebody similar is asked about (refcheck help safety)

PERSONAL DATA
  By default an agent sees P. S. and p…@example.com, the last two digits of
  phones, no additional information, and no cell, unknown column or sheet name
  of a file; names of report files have ids in them, those of batch files only
  usual words, and checks are named as list_packages names them. Of answers of
  the service, only documented keys, statuses and ids are shown, and of a
  reason only the field and words of refcheck's own sentences. Other text is
  searched for names, e-mails, phones and quotations; a name that this store
  does not know is not found.
  --allow-personal-data shows all of that as it is. Never shown: API keys,
  webhook secrets, addresses of reports, and what is in a report.

  A plan says who was ordered before, so an agent that tries values can learn
  whether a person with those values was ordered. What an agent receives goes
  to the operator of its model.

TEXT FROM ELSEWHERE
  Names, descriptions, error messages, cells and events may hold text that is
  meant to steer an agent. Results mark it as data, without hidden characters,
  in one line of at most 600 characters. An agent that follows it anyway can
  read and plan, but not order.

WHAT THIS DOES NOT STOP
  An agent with a shell in your account can run anything that you can: read the
  key, open a terminal, approve a plan, or order without one. refcheck cannot
  tell you and such an agent apart. approve requires a terminal, and refuses
  where REFCHECK_STARTED_BY_AGENT is set: export it in the shells of an agent,
  so that it does not approve by mistake. To keep an agent from ordering,
  separate the accounts:
  - Give the agent no shell, or one in a container without the key and without
    REFCHECK_DATA_DIR: without the key nothing can be ordered.
  - Run the agent as another user of the machine, who can read neither the key
    nor the store, and let that user start only the server as you, with this
    line in sudoers:

      assistant ALL=(olive) NOPASSWD: /usr/bin/refcheck mcp --profile acme

    The key and the plans then are yours alone, and you approve as yourself.
`

import { expect, test } from 'vitest'

import { emails, peopleFile } from '../harness/batch-file.ts'
import { orderOf } from '../harness/people.ts'
import { session } from '../harness/session.ts'

const day = 86_400_000

test('status: an empty store, and nobody logged in', async () => {
  const { type } = await session({ newcomer: true })
  expect(await type('status')).toMatchInlineSnapshot(`
    $ refcheck status
    In flight
      No request is in flight.

    Needs a person
      Nothing.
    exit 0
  `)
  expect(await type('status --json')).toMatchInlineSnapshot(`
    $ refcheck status --json
    {
      "read_at": "2026-11-20T12:00:00.000Z",
      "statuses": {},
      "in_flight": {
        "requests": 0,
        "read_since": null,
        "batches": []
      },
      "attention": [],
      "reports": [],
      "quota": null
    }
    exit 0
  `)
})

test('status: what is in flight, what needs a person with the command for each, quota and newest reports', async () => {
  const here = await session()
  const { type, folder, sandbox, clock } = here
  await type(orderOf('Priya'))
  sandbox.inject({ scenario: 'error' })
  await type(orderOf('Chi'))
  peopleFile(folder, emails(6))
  sandbox.inject({ on: 'POST /v1/requests', fault: { kind: 'cut', when: 'before' } })
  await type('batch run people.csv --package 102 --yes --max 4 --quiet')
  await clock.advance(8 * day)
  expect(await type('status', { tty: true })).toMatchInlineSnapshot(`
    $ refcheck status
    ␛[1mIn flight␛[22m
      5 requests: 5 RECEIVED
      Last read up to 8 d ago. Read again: refcheck request list --refresh
      people.csv: 2 of 6 rows not sent yet

    ␛[1mNeeds a person␛[22m
      ␛[31m1 unknown outcome␛[39m  people.csv: Ana Row1: 127.0.0.1:PORT: the connection wa…
        refcheck batch reconcile BATCH_1
      ␛[33m1 stopped␛[39m  people.csv
        refcheck batch resume BATCH_1
      ␛[33m5 open for more than 7 days␛[39m  Priya Example, Chi Example, Ana Row2 and 2 more
        refcheck request list --refresh --sort ordered_at

    ␛[1mQuota (calls to the service)␛[22m
      60 in 60 s   ␛[32m[--------------------]␛[39m  0 used,   60 left
      1000 in 1 h  ␛[32m[--------------------]␛[39m  0 used, 1000 left
    exit 0
  `)
  await type('request list --refresh')
  await type('config set output-dir reports')
  expect(await type('status', { tty: true })).toMatchInlineSnapshot(`
    $ refcheck status
    ␛[1mIn flight␛[22m
      No request is in flight.
      people.csv: 2 of 6 rows not sent yet

    ␛[1mNeeds a person␛[22m
      ␛[31m1 unknown outcome␛[39m  people.csv: Ana Row1: 127.0.0.1:PORT: the connection wa…
        refcheck batch reconcile BATCH_1
      ␛[31m1 ERROR␛[39m  Chi Example
        refcheck request get REQUEST_2
      ␛[33m1 stopped␛[39m  people.csv
        refcheck batch resume BATCH_1

    ␛[1mQuota (calls to the service)␛[22m
      60 in 60 s   ␛[32m[#-------------------]␛[39m  5 used,  55 left, free again in 60 s
      1000 in 1 h  ␛[32m[#-------------------]␛[39m  5 used, 995 left, free again in 1 h

    ␛[1mNewest reports␛[22m
      2026-11-28  REQUEST_1…  Priya Example  not downloaded
      2026-11-28  REQUEST_3…  Ana Row2  not downloaded
      2026-11-28  REQUEST_4…  Ana Row3  not downloaded
      Download: refcheck report sync
    exit 0
  `)
  await type('report sync --quiet')
  expect(await type('status')).toMatchInlineSnapshot(`
    $ refcheck status
    In flight
      No request is in flight.
      people.csv: 2 of 6 rows not sent yet

    Needs a person
      1 unknown outcome  people.csv: Ana Row1: 127.0.0.1:PORT: the connection was cut
        refcheck batch reconcile BATCH_1
      1 ERROR  Chi Example
        refcheck request get REQUEST_2
      1 stopped  people.csv
        refcheck batch resume BATCH_1

    Quota (calls to the service)
      60 in 60 s   [###-----------------]  9 used,  51 left, free again in 60 s
      1000 in 1 h  [#-------------------]  9 used, 991 left, free again in 1 h

    Newest reports
      2026-11-28  REQUEST_1…  Priya Example  1 file
      2026-11-28  REQUEST_3…  Ana Row2  1 file
      2026-11-28  REQUEST_4…  Ana Row3  1 file
    exit 0
  `)
  expect(await type('status --html all.html --quiet --jq .statuses')).toMatchInlineSnapshot(`
    $ refcheck status --html all.html --quiet --jq .statuses
    {"COMPLETED":4,"ERROR":1}
    exit 0
  `)
  expect(here.read('all.html')).toContain('<title>All checks ordered with this store</title>')
  expect(
    await here.all([
      'status --html all.html',
      'status --html all.html --overwrite --jq .reports[0].files',
      'status --html . --json',
    ]),
  ).toMatchInlineSnapshot(`
    $ refcheck status --html all.html
    2> Error: --html: all.html already exists
    2> Choose another name, or replace it with --overwrite.
    exit 2

    $ refcheck status --html all.html --overwrite --jq .reports[0].files
    2> Page written to HOME/all.html
    1
    exit 0

    $ refcheck status --html . --json
    {
      "error": {
        "code": "usage",
        "message": "--html: . is a folder",
        "hint": "Give the name of a file in it."
      }
    }
    exit 2
  `)
  expect((await type('status --html -')).stdout).toMatch(/^<!doctype html>/)
  expect(await type('status --json')).toMatchInlineSnapshot(`
    $ refcheck status --json
    {
      "read_at": "2026-11-28T12:00:00.000Z",
      "statuses": {
        "COMPLETED": 4,
        "ERROR": 1
      },
      "in_flight": {
        "requests": 0,
        "read_since": null,
        "batches": [
          {
            "batch_id": "BATCH_1",
            "name": "people.csv",
            "package_id": 102,
            "added_at": "2026-11-20T12:00:00.000Z",
            "total": 6,
            "accepted": 3,
            "pending": 2,
            "unknown": 1,
            "state": "unknown"
          }
        ]
      },
      "attention": [
        {
          "kind": "unknown",
          "batch_id": "BATCH_1",
          "batch": "people.csv",
          "row": 1,
          "request_id": null,
          "first_name": "Ana",
          "last_name": "Row1",
          "email": "a1@example.com",
          "reason": "127.0.0.1:PORT: the connection was cut",
          "since": "2026-11-20T12:00:00.000Z",
          "command": "refcheck batch reconcile BATCH_1"
        },
        {
          "kind": "error",
          "batch_id": "BATCH_2",
          "batch": null,
          "row": 1,
          "request_id": "REQUEST_2",
          "first_name": "Chi",
          "last_name": "Example",
          "email": "chi@example.com",
          "reason": null,
          "since": "2026-11-28T12:00:00.000Z",
          "command": "refcheck request get REQUEST_2"
        },
        {
          "kind": "stopped",
          "batch_id": "BATCH_1",
          "batch": "people.csv",
          "row": null,
          "request_id": null,
          "first_name": null,
          "last_name": null,
          "email": null,
          "reason": null,
          "since": "2026-11-20T12:00:00.000Z",
          "command": "refcheck batch resume BATCH_1"
        }
      ],
      "reports": [
        {
          "request_id": "REQUEST_1",
          "first_name": "Priya",
          "last_name": "Example",
          "package_id": 102,
          "completed_at": "2026-11-28T12:00:00.000Z",
          "files": 1
        },
        {
          "request_id": "REQUEST_3",
          "first_name": "Ana",
          "last_name": "Row2",
          "package_id": 102,
          "completed_at": "2026-11-28T12:00:00.000Z",
          "files": 1
        },
        {
          "request_id": "REQUEST_4",
          "first_name": "Ana",
          "last_name": "Row3",
          "package_id": 102,
          "completed_at": "2026-11-28T12:00:00.000Z",
          "files": 1
        },
        {
          "request_id": "REQUEST_5",
          "first_name": "Ana",
          "last_name": "Row4",
          "package_id": 102,
          "completed_at": "2026-11-28T12:00:00.000Z",
          "files": 1
        }
      ],
      "quota": {
        "windows": [
          {
            "calls": 60,
            "seconds": 60,
            "used": 9,
            "left": 51,
            "resets_at": "2026-11-28T12:01:01.600Z",
            "learnt": false
          },
          {
            "calls": 1000,
            "seconds": 3600,
            "used": 9,
            "left": 991,
            "resets_at": "2026-11-28T13:00:46.000Z",
            "learnt": false
          }
        ],
        "not_before": null
      }
    }
    exit 0
  `)
})

test('pages: --profile is repeated in every command that they show', async () => {
  const here = await session({ newcomer: true })
  const { type, folder, url, sandbox } = here
  const { apiKey, userEmail } = sandbox.credentials
  await type(`auth login --base-url ${url} --email ${userEmail} --profile main --with-key`, { stdin: apiKey })
  peopleFile(folder, emails(6))
  const run = 'batch run people.csv --package 102 --yes --max 4 --profile main --json'
  const { batch_id: id } = (await type(run)).json() as { batch_id: string }
  await type('status --html all.html --profile main')
  await type(`batch export ${id} --output one.html --profile main`)
  for (const page of ['all.html', 'one.html']) {
    expect(here.read(page).match(/refcheck [a-z]+ [^<`]+/g)).toEqual([
      `refcheck batch resume ${id} --profile main`,
    ])
  }
})

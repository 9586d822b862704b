import { expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { orderArguments } from '../harness/people.ts'
import { session } from '../harness/session.ts'

const dayMs = 86_400_000

test('status of an empty store names the login as the next step', async () => {
  const { type } = await session({ isLoggedOut: true })
  expect(await type('status')).toMatchInlineSnapshot(`
    $ refcheck status
    Nobody is logged in. Log in with: refcheck auth login
    Running    nothing
    Needs you  nothing
    exit 0
  `)
  expect(await type('status --json')).toMatchInlineSnapshot(`
    $ refcheck status --json
    {
      "read_at": "2026-11-20T12:00:00.000Z",
      "organisation": null,
      "statuses": {},
      "in_flight": {
        "requests": 0,
        "read_since": null,
        "batches": []
      },
      "attention": [],
      "reports": [],
      "completed": 0,
      "new_reports": null,
      "reports_awaited": null,
      "other_orders": [],
      "quota": null
    }
    exit 0
  `)
})

test('status shows running orders, requests that need attention with a command for each, and new reports', async () => {
  const here = await session()
  const { type, folder, sandbox, clock } = here
  await type(orderArguments('Priya'))
  sandbox.inject({ scenario: 'error' })
  await type(orderArguments('Chi'))
  writePeopleFile(folder, createEmails(6))
  sandbox.inject({ on: 'POST /v1/requests', fault: { kind: 'cut', when: 'before' } })
  await type('batch run people.csv --package 102 --yes --max 4 --quiet')
  await clock.advance(8 * dayMs)
  expect(await type('status', { tty: true })).toMatchInlineSnapshot(`
    $ refcheck status
    ␛[1m127.0.0.1:PORT␛[22m (olive.owner@example.com)   as of 2026-11-20 12:00, 8 d ago
    ␛[1mRunning␛[22m    5 orders   read again: refcheck request list --refresh
    ␛[1mNeeds you␛[22m
      Ana Row1                  ␛[31mperhaps ordered␛[39m
        refcheck batch reconcile BATCH_1…
      people.csv                ␛[33mstopped␛[39m               refcheck batch resume BATCH_1…
      Priya Example and 4 more  ␛[33mopen for over 7 days␛[39m
        refcheck request list --refresh --sort ordered_at
    exit 0
  `)
  await type('request list --refresh')
  await type('config set output-dir reports')
  expect(await type('status', { tty: true })).toMatchInlineSnapshot(`
    $ refcheck status
    ␛[1m127.0.0.1:PORT␛[22m (olive.owner@example.com)
    ␛[1mRunning␛[22m    nothing
    ␛[1mNeeds you␛[22m
      Ana Row1     ␛[31mperhaps ordered␛[39m    refcheck batch reconcile BATCH_1…
      people.csv   ␛[33mstopped␛[39m            refcheck batch resume BATCH_1…
      Chi Example  ␛[31mcould not be done␛[39m  refcheck request get REQUEST_2…
    ␛[1mReports␛[22m    4 not downloaded → refcheck report sync
    exit 0
  `)
  await type('report sync --quiet')
  expect(await type('status')).toMatchInlineSnapshot(`
    $ refcheck status
    127.0.0.1:PORT (olive.owner@example.com)
    Running    nothing
    Needs you
      Ana Row1     perhaps ordered    refcheck batch reconcile BATCH_1
      people.csv   stopped            refcheck batch resume BATCH_1
      Chi Example  could not be done  refcheck request get REQUEST_2
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
    2> Error: --html: . is a folder
    exit 2
  `)
  expect((await type('status --html -')).stdout).toMatch(/^<!doctype html>/)
  expect(await type('status --json')).toMatchInlineSnapshot(`
    $ refcheck status --json
    {
      "read_at": "2026-11-28T12:00:00.000Z",
      "organisation": {
        "profile": null,
        "base_url": "http://127.0.0.1:PORT",
        "user_email": "olive.owner@example.com"
      },
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
      "completed": 4,
      "new_reports": 0,
      "reports_awaited": 0,
      "other_orders": [],
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

test('status lists requests that ended CANCELLED or ERROR until a user has read them or marked them as done', async () => {
  const here = await session()
  const { type, sandbox, clock } = here
  const ids: string[] = []
  for (const [name, scenario] of Object.entries({
    Priya: 'error',
    Chi: 'declined',
    Mei: 'error',
    Zoe: 'stalled',
  })) {
    sandbox.inject({ scenario })
    ids.push(
      ((await type(orderArguments(name, ['--yes', '--json']))).json() as { request_id: string }).request_id,
    )
  }
  const [priya = '', chi = '', mei = '', zoe = ''] = ids
  await clock.advance(30 * dayMs)
  await type('request list --refresh --quiet')
  expect(await type('status', { tty: true })).toMatchInlineSnapshot(`
    $ refcheck status
    ␛[1m127.0.0.1:PORT␛[22m (olive.owner@example.com)   read just now
    ␛[1mRunning␛[22m    1 order   read again: refcheck request list --refresh
    ␛[1mNeeds you␛[22m
      Priya Example  ␛[31mcould not be done␛[39m     refcheck request get REQUEST_1…
      Mei Example    ␛[31mcould not be done␛[39m     refcheck request get REQUEST_3…
      Chi Example    ␛[31mcancelled␛[39m             refcheck request get REQUEST_2…
      Zoe Example    ␛[33mopen for over 7 days␛[39m  refcheck request get REQUEST_4…
    exit 0
  `)
  // Reading a request without a terminal or with --json does not count as read by a user.
  await type(`request get ${priya} ${chi} ${mei}`)
  await type(`request get ${priya} --json`, { tty: true })
  expect((await type('status --jq .attention[].first_name')).stdout).toContain('Priya')
  await type(`request get ${priya}`, { tty: true })
  expect(
    await here.all([
      `status --done ${zoe}`,
      `status --done ${chi.slice(0, 8)} ${mei} ${zoe}`,
      'status --done 00000000-0000-4000-8000-000000000000',
      'status --jq .attention[].first_name',
      `status --done ${chi.slice(0, 8)} ${mei}`,
    ]),
  ).toMatchInlineSnapshot(`
    $ refcheck status --done REQUEST_4
    2> Error: --done: request REQUEST_4 is not finished: IN_PROGRESS
    2> Read it again with: refcheck request get REQUEST_4
    exit 2

    $ refcheck status --done REQUEST_2… REQUEST_3 REQUEST_4
    2> Error: --done: request REQUEST_4 is not finished: IN_PROGRESS
    2> Read it again with: refcheck request get REQUEST_4
    exit 2

    $ refcheck status --done 00000000-0000-4000-8000-000000000000
    2> Error: request 00000000-0000-4000-8000-000000000000 was not ordered with this store
    2> List the requests with: refcheck request list
    exit 5

    $ refcheck status --jq .attention[].first_name
    Mei
    Chi
    Zoe
    exit 0

    $ refcheck status --done REQUEST_2… REQUEST_3
    127.0.0.1:PORT (olive.owner@example.com)   read just now
    Running    1 order   read again: refcheck request list --refresh
    Needs you
      Zoe Example  open for over 7 days  refcheck request get REQUEST_4
    Ended, settled: 2 ERROR → refcheck request list --status error
    Ended, settled: 1 CANCELLED → refcheck request list --status cancelled
    exit 0
  `)
})

test('status counts the orders of other organisations and of sandboxes in a separate line', async () => {
  const here = await session()
  const { type, sandbox } = here
  const otherService = { REFCHECK_BASE_URL: 'https://api.example.com' }
  await type(orderArguments('Priya'))
  sandbox.inject({ on: 'POST /v1/requests', fault: { kind: 'cut', when: 'before' } })
  await type(orderArguments('Chi'))
  expect(await type('status', { exported: otherService })).toMatchInlineSnapshot(`
    $ refcheck status
    api.example.com (olive.owner@example.com)
    Running    nothing
    Needs you  nothing
    Also: 1 practice order (sandbox)
    exit 0
  `)
  expect((await type('status --jq .other_orders', { exported: otherService })).json()).toEqual([
    { base_url: here.url, account: '', is_practice: true, orders: 1, needs_person: 1 },
  ])
  await type('store accounts add north')
  expect(
    (await type('status --jq .other_orders', { exported: { REFCHECK_ACCOUNT: 'north' } })).json(),
  ).toMatchObject([{ base_url: here.url, orders: 1 }])
})

test('status shows the quota if little of it is left', async () => {
  const { type } = await session({ quota: [{ calls: 10, seconds: 60 }] })
  const exported = { REFCHECK_QUOTA: '10/60' }
  for (const name of ['Ana', 'Bo', 'Chi']) await type(orderArguments(name), { exported })
  for (let call = 0; call < 9; call += 1) {
    const screen = (await type('status', { exported })).stdout
    await type('users list', { exported })
    if (screen.includes('Quota')) break
  }
  expect(await type('status', { exported })).toMatchInlineSnapshot(`
    $ refcheck status
    127.0.0.1:PORT (olive.owner@example.com)   read just now
    Running    3 orders   read again: refcheck request list --refresh
    Needs you  nothing
    Quota      10 in 60 s  10 used, 0 left, free again in 60 s
    exit 0
  `)
})

test('HTML pages repeat --profile in every command', async () => {
  const here = await session({ isLoggedOut: true })
  const { type, folder, url, sandbox } = here
  const { apiKey, userEmail } = sandbox.credentials
  await type(`auth login --base-url ${url} --email ${userEmail} --profile main --with-key`, { stdin: apiKey })
  writePeopleFile(folder, createEmails(6))
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

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { type SandboxProcess, startSandboxProcess } from '../harness/parallel-program.ts'
import { orderArguments } from '../harness/people.ts'
import { session } from '../harness/session.ts'
import { temporaryFolder } from '../harness/world.ts'

async function createOrder({ type }: SandboxProcess): Promise<string> {
  const outcome = await type(orderArguments('Priya', ['--yes', '--json']))
  return (outcome.json() as { request_id: string }).request_id
}

test('with --clock manual, requests change their status only with sandbox advance', async () => {
  const here = await startSandboxProcess(['--clock', 'manual'])
  const id = await createOrder(here)
  const readStatus = async (): Promise<unknown> =>
    ((await here.type(`request get ${id} --json`)).json() as { status: string }).status
  expect(await readStatus()).toBe('RECEIVED')
  expect(await here.type('sandbox status')).toMatchInlineSnapshot(`
    $ refcheck sandbox status
    time        TIME (manual clock)
    requests    1 RECEIVED
    deliveries  0 delivered, 0 waiting, 0 given up
    quota       4 of 60 in 60 s, 4 of 1000 in 3600 s
    exit 0
  `)
  expect(await here.type('sandbox advance 2h')).toMatchInlineSnapshot(`
    $ refcheck sandbox advance 2h
    time        TIME (manual clock)
    requests    1 COMPLETED
    deliveries  0 delivered, 0 waiting, 0 given up
    quota       0 of 60 in 60 s, 0 of 1000 in 3600 s
    exit 0
  `)
  expect(await here.type('sandbox advance 1s --json')).toMatchObject({ code: 0 })
  expect(await readStatus()).toBe('COMPLETED')
})

test('with --data the state of a sandbox is still there after a kill', async () => {
  const data = join(temporaryFolder(), 'state')
  const first = await startSandboxProcess(['--data', data])
  const request_id = await createOrder(first)
  first.process.child.kill('SIGKILL')
  await first.process.ended
  const second = await startSandboxProcess(['--data', data])
  expect((await second.type(`request get ${request_id} --json`)).json()).toMatchObject({ request_id })
})

test('sandbox restore restores the state of a snapshot after a reset', async () => {
  const here = await startSandboxProcess(['--clock', 'manual'])
  await createOrder(here)
  here.write('before.json', (await here.type('sandbox snapshot --json')).stdout)
  expect(await here.all(['sandbox reset', 'sandbox restore before.json'])).toMatchInlineSnapshot(`
    $ refcheck sandbox reset
    time        TIME (manual clock)
    requests    none
    deliveries  0 delivered, 0 waiting, 0 given up
    quota       0 of 60 in 60 s, 0 of 1000 in 3600 s
    exit 0

    $ refcheck sandbox restore before.json
    time        TIME (manual clock)
    requests    1 RECEIVED
    deliveries  0 delivered, 0 waiting, 0 given up
    quota       3 of 60 in 60 s, 3 of 1000 in 3600 s
    exit 0
  `)
  const status = (await here.type('sandbox restore before.json --json')).json()
  expect(status).toMatchObject({ requests: { RECEIVED: 1 } })
  // The key in use is a key of the sandbox. A snapshot without it would lock the user out.
  expect((await here.type('packages list')).code).toBe(0)
})

test('sandbox inject sets a scenario for the next request or a fault for calls, and --clear removes faults', async () => {
  const here = await startSandboxProcess(['--clock', 'manual'])
  expect(await here.type('sandbox inject declined')).toMatchInlineSnapshot(`
    $ refcheck sandbox inject declined
    Injected: {"scenario":"declined"}
    exit 0
  `)
  const id = await createOrder(here)
  await here.type('sandbox advance 2h')
  expect((await here.type(`request get ${id} --json`)).json()).toMatchObject({ status: 'CANCELLED' })
  const fault = '{"kind":"status","status":403,"when":"before"}'
  expect(
    await here.all([
      `sandbox inject --on 'GET /v1/users' --times 9 --fault '${fault}'`,
      'users list --columns email',
      'sandbox inject --clear',
      'users list --columns email',
    ]),
  ).toMatchInlineSnapshot(`
    $ refcheck sandbox inject --on 'GET /v1/users' --times 9 --fault '{"kind":"status","status":403,"when":"before"}'
    Injected: {"on":"GET /v1/users","fault":{"kind":"status","status":403,"when":"before"},"times":9}
    exit 0

    $ refcheck users list --columns email
    2> Error: user is not an active member of the organisation
    2> The user e-mail must belong to an active user of the key’s organisation. An active user can list them with: refcheck users list
    exit 4

    $ refcheck sandbox inject --clear
    All faults are cleared.
    exit 0

    $ refcheck users list --columns email
    EMAIL
    olive.owner@example.com
    ada.admin@example.com
    sam.support@example.com
    max.member@example.com
    cora.contributor@example.com
    exit 0
  `)
})

test('sandbox scenarios and sandbox rules need no running sandbox', async () => {
  const { all } = await session({ isLoggedOut: true })
  expect(await all(['sandbox scenarios', 'sandbox rules'])).toMatchInlineSnapshot(`
    $ refcheck sandbox scenarios
    TAG                 CHANGES   WHAT
    +declined           progress  The recipient declines after 12 minutes: all checks CANCELLED.
    +stopped            progress  Someone stops the request after 13 minutes: all checks CANCELLED.
    +deleted            progress  Someone deletes the request after 11 minutes: all checks CANCELLED.
    +expired            progress  Nobody answers: all checks CANCELLED at the end of the hour.
    +mixed              progress  One check is CANCELLED, the others are COMPLETED: COMPLETED.
    +check-error        progress  One check ends in ERROR, the others are COMPLETED: COMPLETED.
    +all-errors         progress  Every check ends in ERROR: CANCELLED, as none was COMPLETED.
    +error              progress  The request cannot be processed: ERROR with an error_reason.
    +no-referees        progress  Nobody is nominated; the reference check is CANCELLED.
    +slow-referees      progress  The referees answer three days later.
    +referee-cancelled  progress  One referee is CANCELLED, the others answer.
    +unnamed            progress  Referees have no name and no e-mail, background checks no name and no provider: null.
    +report-never       progress  Checks are COMPLETED, their reports never become available.
    +report-later       progress  Reports become available half an hour after completion.
    +stuck              progress  Stays RECEIVED for ever.
    +stalled            progress  Stays IN_PROGRESS for ever.
    +instant            progress  The usual course in seconds instead of minutes.
    +500-before         create    POST answers 500 and creates nothing.
    +500-after          create    POST answers 500 although the request was created.
    +502-html           create    A gateway answers 502 with HTML although the request was created.
    +cut-before         create    The connection breaks and nothing is created.
    +cut-after          create    The connection breaks although the request was created.
    +hang-before        create    POST never answers and creates nothing.
    +hang-after         create    POST never answers although the request was created.
    +no-id              create    POST answers 201 without a request_id.
    +throttled          create    POST answers 429 with Retry-After 1 and creates nothing.
    +report-truncated   report    Downloads break off in the middle of the PDF.
    +report-html        report    Downloads answer 200 with text/html.
    +event-twice        event     Each event is delivered twice.
    +event-late         event     Each event is delivered a minute late.
    +event-unordered    event     Events about earlier statuses arrive after the last one.
    +event-forged       event     The first attempt of each event has a signature that does not match.
    exit 0

    $ refcheck sandbox rules
    NAME                     CURRENT          CHOICES                          OPEN
    quota-window-start       first-call       first-call | clock               When a quota window starts.
    refused-calls-count      no               no | yes                         Whether a call answered with 429 uses up the quota further.
    hidden-package-schema    404              404 | 403                        Whether a package that is hidden from the user’s role answers 404 or 403.
    disabled-package-schema  404              404 | 200                        Whether the schema of a DISABLED package can be read.
    support-creates          no               no | yes                         Whether the role support may create requests.
    error-checks             null-ids         null-ids | none                  What \`checks\` holds when the status is ERROR: entries with a null id, or nothing.
    error-from               IN_PROGRESS      IN_PROGRESS | RECEIVED           Which status a request is in before it turns to ERROR.
    leaving-received         step-by-step     step-by-step | at-once           Whether a request can go from RECEIVED to its end without being seen IN_PROGRESS.
    report-ready             with-completion  with-completion | later          Whether the report is ready when the check is COMPLETED, or minutes later.
    event-on-acceptance      no               no | yes                         Whether the acceptance itself (status RECEIVED) sends an event.
    webhook-retries          backoff          backoff | quick | never          When a failed delivery is tried again.
    repeated-events          never            never | sometimes                Whether an event that was acknowledged is sometimes sent a second time.
    error-reason-form        sentence         sentence | code | lines          What the text of error_reason looks like.
    created-at-form          milliseconds     milliseconds | seconds | offset  The precision of created_at, and how its time zone is written.
    referee-id-form          digits           digits | uuid                    Whether a referee_id is digits or a UUID.
    body-limit               1 MiB            1 MiB | 64 KiB | none            How large the body of a request may be.
    text-limit               none             none | 255                       How many characters a text field may have.
    blank-text               refused          refused | accepted               Whether a required text may be empty or blank.
    control-characters       refused          refused | accepted               Whether a name may hold control characters such as NUL.
    null-values              refused          refused | left-out               Whether null for something optional is refused, or counts as left out.
    email-form               ascii            ascii | international            Whether an e-mail address may hold letters beyond ASCII.
    content-type             exact            exact | json-suffix              Whether a JSON type of a vendor, which ends in +json, is taken as well.
    repeated-parameters      refused          refused | first                  Whether a query parameter given twice, each time with a good value, is refused, or the first counts.
    id-case                  ignored          ignored | exact                  Whether the id of a request or check in capital letters is the same id.
    exit 0
  `)
})

test('a rule can be changed in a running sandbox, or set at its start', async () => {
  const { type, env } = await startSandboxProcess(['--rule', 'support-creates=yes'])
  const switched = (await type('sandbox rules error-checks=none --json')).json()
  expect(switched).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ name: 'support-creates', current: 'yes' }),
      expect.objectContaining({ name: 'error-checks', current: 'none' }),
    ]),
  )
  const named = await type(`sandbox rules --base-url ${env['REFCHECK_BASE_URL']} --json`)
  expect(named.json()).toEqual(switched)
})

test('sandbox renew-key revokes the old key, and a login with the printed key works', async () => {
  const { type, env } = await startSandboxProcess()
  const printed = await type('sandbox renew-key')
  // Only the key is printed, because scripts read it.
  expect(printed.stdout).toMatch(/^\w{32}\n$/)
  expect(await type('users list')).toMatchInlineSnapshot(`
    $ refcheck users list
    2> Error: invalid API key
    2> A newer key revokes the older one. If REFCHECK_API_KEY is set, set it to the current key. Else log in with: refcheck auth login
    exit 3
  `)
  const login = `auth login --base-url ${env['REFCHECK_BASE_URL']} --email ${env['REFCHECK_USER_EMAIL']}`
  const { code } = await type(`${login} --with-key --insecure-storage`, { stdin: printed.stdout })
  expect(code).toBe(0)
  const again = (await type('sandbox renew-key --json')).json()
  expect(again).toEqual({ api_key: expect.stringMatching(/^\w{32}$/) as string })
})

test('sandbox start --login asks before it replaces the profile of another sandbox', async () => {
  const { type, env } = await startSandboxProcess()
  const printed = await type('sandbox renew-key')
  const login = `auth login --profile acme --base-url ${env['REFCHECK_BASE_URL']} --email ${env['REFCHECK_USER_EMAIL']}`
  await type(`${login} --with-key --insecure-storage`, { stdin: printed.stdout })
  const start = 'sandbox start --port 0 --login --profile acme'
  const readProfileUrl = async (): Promise<unknown> =>
    (await type('auth status --profile acme --jq .base_url')).stdout.trim()
  expect(await type(start)).toMatchInlineSnapshot(`
    $ refcheck sandbox start --port 0 --login --profile acme
    2> Error: profile "acme" is of another sandbox, http://127.0.0.1:PORT_1, and is kept
    2> Choose another name: refcheck sandbox start --login --profile NAME
    exit 2
  `)
  const declined = [{ ask: /^Profile "acme" is of /, confirm: false }]
  expect(await type(start, { answers: declined })).toMatchInlineSnapshot(`
    $ refcheck sandbox start --port 0 --login --profile acme
    ? Profile "acme" is of olive.owner@example.com at http://127.0.0.1:PORT_1. Replace it, with its key, by this sandbox? no
    2> Cancelled; the profile "acme" is as it was
    exit 130
  `)
  expect(await readProfileUrl()).toBe(env['REFCHECK_BASE_URL'])
  const stop = new AbortController()
  const confirmed = await type(start, {
    answers: [{ ask: /^Profile "acme" is of /, confirm: true }],
    signal: stop.signal,
    onWrite: (stream) => stream === 'stdout' && stop.abort(),
  })
  expect(confirmed.stdout).toContain('Profile "acme" is logged in to it, and in use.')
  expect(await readProfileUrl()).not.toBe(env['REFCHECK_BASE_URL'])
})

test('sandbox start --fixture reads people and packages from YAML, and refuses an invalid file with its line', async () => {
  const fixture = join(temporaryFolder(), 'good.yaml')
  const { write, type } = await session({ isLoggedOut: true })
  const users = 'users: [{ email: ana@acme.example, role: owner }]'
  const validFixture = `organisations:\n  - name: Acme\n    ${users}\n    packages: [{ id: 7, name: Ours }]\n`
  writeFileSync(fixture, validFixture)
  const here = await startSandboxProcess(['--fixture', fixture])
  expect(await here.all(['packages list', 'users list'])).toMatchInlineSnapshot(`
    $ refcheck packages list
    ID  NAME  STATUS  REFERENCE SURVEY  BACKGROUND CHECKS
    7   Ours  ACTIVE  -                 -
    exit 0

    $ refcheck users list
    EMAIL             FIRST NAME  LAST NAME  ROLE   TEAMS  JOB TITLE
    ana@acme.example  -           -          owner  -      -
    exit 0
  `)
  write('bad.yaml', 'packages: [')
  expect(await type('sandbox start --port 0 --fixture bad.yaml')).toMatchInlineSnapshot(`
    $ refcheck sandbox start --port 0 --fixture bad.yaml
    2> Error: the fixture is neither JSON nor YAML at line 1, column 12
    2> Fix the file there; nothing was started.
    exit 2
  `)
})

test('invalid arguments of sandbox commands are refused with one line and a hint', async () => {
  const { all } = await session()
  expect(
    await all([
      'sandbox advance 5',
      'sandbox advance 1h',
      'sandbox inject',
      'sandbox inject nope',
      'sandbox inject declined --clear',
      "sandbox inject --on 'GET *' --fault x",
      `sandbox inject --on 'GET *' --fault '{"kind":"x"}'`,
      'sandbox rules nope',
      'sandbox rules __proto__=1',
      'sandbox rules nope=1',
      'sandbox restore nope.json',
      'sandbox start --rule nope',
      'sandbox start --clock lunar',
      'sandbox reset --base-url http://127.0.0.1:1',
    ]),
  ).toMatchInlineSnapshot(`
    $ refcheck sandbox advance 5
    2> Error: DURATION: "5" is not a duration
    2> Give a number and a unit: 30s, 5m, 2h, 30d or 1h30m.
    exit 2

    $ refcheck sandbox advance 1h
    2> Error: this sandbox runs on the real clock, so it cannot be advanced
    2> To move the clock, start it with: refcheck sandbox start --clock manual
    exit 2

    $ refcheck sandbox inject
    2> Error: SCENARIO, --fault and --clear: exactly one is required
    2> Show examples with: refcheck sandbox inject --help
    exit 2

    $ refcheck sandbox inject nope
    2> Error: no scenario named "nope"
    2> Scenarios: declined, stopped, deleted, expired, mixed, check-error, all-errors, error, no-referees, slow-referees, referee-cancelled, unnamed, report-never, report-later, stuck, stalled, instant, 500-before, 500-after, 502-html, cut-before, cut-after, hang-before, hang-after, no-id, throttled, report-truncated, report-html, event-twice, event-late, event-unordered, event-forged
    exit 2

    $ refcheck sandbox inject declined --clear
    2> Error: SCENARIO, --fault and --clear: exactly one is required
    2> Show examples with: refcheck sandbox inject --help
    exit 2

    $ refcheck sandbox inject --on 'GET *' --fault x
    2> Error: --fault is not JSON
    2> Give JSON such as '{"kind":"cut","when":"after"}'.
    exit 2

    $ refcheck sandbox inject --on 'GET *' --fault '{"kind":"x"}'
    2> Error: fault.kind: must be one of: status, cut, hang, latency, no-id, content-type, truncated, body, switch
    2> A fault is JSON with a kind: status, cut, hang, latency, no-id, content-type, truncated, body, switch; see examples with: refcheck sandbox inject --help
    exit 2

    $ refcheck sandbox rules nope
    2> Error: "nope" is not NAME=CHOICE
    2> List the rules with: refcheck sandbox rules
    exit 2

    $ refcheck sandbox rules __proto__=1
    2> Error: "__proto__=1" is not NAME=CHOICE
    2> List the rules with: refcheck sandbox rules
    exit 2

    $ refcheck sandbox rules nope=1
    2> Error: no rule named "nope"
    2> Rules: quota-window-start, refused-calls-count, hidden-package-schema, disabled-package-schema, support-creates, error-checks, error-from, leaving-received, report-ready, event-on-acceptance, webhook-retries, repeated-events, error-reason-form, created-at-form, referee-id-form, body-limit, text-limit, blank-text, control-characters, null-values, email-form, content-type, repeated-parameters, id-case
    exit 2

    $ refcheck sandbox restore nope.json
    2> Error: file not found: nope.json
    2> Check the path.
    exit 2

    $ refcheck sandbox start --rule nope
    2> Error: --rule: "nope" is not NAME=CHOICE
    2> List the names and choices with: refcheck sandbox rules
    exit 2

    $ refcheck sandbox start --clock lunar
    2> Error: --clock: "lunar" is not one of: real, manual
    2> Show its help with: refcheck sandbox start --help
    exit 2

    $ refcheck sandbox reset --base-url http://127.0.0.1:1
    2> Error: 127.0.0.1:1: connection refused
    2> Check the base URL, and that the service is running.
    exit 7
  `)
})

test('sandbox restore refuses input that is no snapshot', async () => {
  const { type } = await startSandboxProcess()
  expect((await type('sandbox restore', { stdin: 'x' })).stderr).toMatchInlineSnapshot(`
    "Error: the snapshot is not JSON
    Make a snapshot with: refcheck sandbox snapshot > FILE
    "
  `)
  expect((await type('sandbox restore', { stdin: '{}' })).stderr).toMatchInlineSnapshot(`
    "Error: this is not a snapshot of a sandbox: version is wrong
    Nothing was changed. Make a snapshot with: refcheck sandbox snapshot > FILE
    "
  `)
})

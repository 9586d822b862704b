import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { ManualClock } from '../harness/manual-clock.ts'
import { fullInformation, orderOf } from '../harness/people.ts'
import { ScriptedPrompter } from '../harness/scripted-prompter.ts'
import { world } from '../harness/world.ts'

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g
const posts = (sandbox: { log: { entries(): unknown[] } }): unknown[] =>
  sandbox.log.entries().filter((entry) => (entry as { method?: string }).method === 'POST')

test('an order by flags', async () => {
  const { run, sandbox } = await world()
  const { code, stdout, stderr } = await run(orderOf('Priya'))
  expect(code).toBe(0)
  expect(stdout.replace(uuid, 'ID')).toBe('created  ID  RECEIVED\n')
  expect(stderr.replace(uuid, 'ID')).toBe('Follow it with: refcheck request wait ID\n')
  expect(sandbox.requests()).toMatchObject([
    {
      package_id: 102,
      recipient: { first_name: 'Priya', phone: '+61412345678' },
      requester: { email: 'olive.owner@example.com' },
    },
  ])
})

test('--json is the id and the status, nothing else', async () => {
  const { run, sandbox } = await world()
  const outcome = await run(orderOf('Priya', ['--yes', '--json', '--quiet']))
  expect(outcome.json()).toEqual({ request_id: sandbox.requests()[0]?.request_id, status: 'RECEIVED' })
  expect(outcome.stderr).toBe('')
})

test('additional information of every type', async () => {
  const { run, sandbox } = await world()
  const argv = orderOf('Priya', ['--yes', ...fullInformation]).map((each) => (each === '102' ? '101' : each))
  expect((await run(argv)).code).toBe(0)
  expect(sandbox.requests()[0]).toMatchObject({ package_id: 101 })
})

test('a phone loses its punctuation, and that is told', async () => {
  const { run, sandbox } = await world()
  const argv = orderOf('Priya').map((each) => (each === '+61412345678' ? '+61 (412) 345-678' : each))
  const { code, stderr } = await run(argv)
  expect(code).toBe(0)
  expect(stderr).toContain('recipient.phone: "+61 (412) 345-678" is sent as "+61412345678"')
  expect(sandbox.requests()[0]?.recipient.phone).toBe('+61412345678')
})

test('a date that the schema asks for in ISO form is taken in no other', async () => {
  const { run, sandbox } = await world()
  for (const date of ['30/04/1990', '1990-02-30']) {
    const fields = fullInformation.map((each) => each.replace('1990-04-30', date))
    const argv = orderOf('Priya', ['--yes', ...fields]).map((each) => (each === '102' ? '101' : each))
    const { code, stderr } = await run(argv)
    expect(code).toBe(2)
    expect(stderr).toContain('ncc_acic.date_of_birth')
  }
  expect(posts(sandbox)).toEqual([])
})

const body = {
  package_id: 102,
  recipient: { first_name: 'Mei', last_name: 'Tanaka', email: 'mei@example.com', phone: '+819012345678' },
}

test('a body from a file, and from stdin', async () => {
  const { run, folder, sandbox } = await world()
  writeFileSync(join(folder, 'body.json'), `\uFEFF${JSON.stringify(body)}`)
  expect((await run(['request', 'create', '--file', 'body.json', '--yes'])).code).toBe(0)
  const second = JSON.stringify({ ...body, recipient: { ...body.recipient, email: 'mei2@example.com' } })
  expect((await run(['request', 'create', '--file', '-', '--yes'], { stdin: second })).code).toBe(0)
  expect(sandbox.requests()).toHaveLength(2)
})

test('--dry-run prints the body and sends nothing', async () => {
  const { run, sandbox } = await world()
  const outcome = await run(['request', 'create', '--file', '-', '--dry-run', '--json'], {
    stdin: JSON.stringify(body),
  })
  expect(outcome.code).toBe(0)
  expect(outcome.json()).toEqual(body)
  expect(posts(sandbox)).toEqual([])
})

test.each([
  ['no terminal and no --yes', orderOf('Priya', []), undefined, 2, 'there is no terminal to confirm on'],
  ['no package', ['request', 'create', '--yes'], undefined, 2, 'the package is missing'],
  [
    'a package that is INACTIVE',
    ['request', 'create', '--package', '105', '--yes'],
    undefined,
    2,
    'is INACTIVE',
  ],
  [
    'a package that is DISABLED',
    ['request', 'create', '--package', '106', '--yes'],
    undefined,
    2,
    'is DISABLED',
  ],
  [
    'a package that is not there',
    ['request', 'create', '--package', '999', '--yes'],
    undefined,
    5,
    'package 999',
  ],
  [
    'a required field missing',
    ['request', 'create', '--package', '102', '--first-name', 'A', '--yes'],
    undefined,
    2,
    'recipient.last_name: is required',
  ],
  ['an unknown code', orderOf('A', ['--yes', '--field', 'nope.x=1']), undefined, 2, 'nope.x'],
  [
    '--file with a field flag',
    ['request', 'create', '--file', '-', '--email', 'a@b.co'],
    '{}',
    2,
    'exclude each other',
  ],
  [
    '--package against the body',
    ['request', 'create', '--file', '-', '--package', '101', '--yes'],
    JSON.stringify(body),
    2,
    '--package says 101',
  ],
  [
    'a body that is not JSON',
    ['request', 'create', '--file', '-', '--yes'],
    '{"package_id":102,',
    2,
    'line 1',
  ],
  ['a list for a body', ['request', 'create', '--file', '-', '--yes'], '[]', 2, 'is not a JSON object'],
  [
    'a key twice',
    ['request', 'create', '--file', '-', '--yes'],
    '{"package_id":102,"package_id":101}',
    2,
    'package_id',
  ],
  [
    'a field the API does not know',
    ['request', 'create', '--file', '-', '--yes'],
    JSON.stringify({ ...body, note: 'x' }),
    2,
    'note',
  ],
  [
    'a wrong type',
    ['request', 'create', '--file', '-', '--yes'],
    JSON.stringify({ ...body, recipient: { ...body.recipient, phone: 61 } }),
    2,
    'recipient.phone',
  ],
  [
    'no package in the body',
    ['request', 'create', '--file', '-', '--yes'],
    '{"recipient":{}}',
    2,
    'package_id',
  ],
])('refused before anything is sent: %s', async (_name, argv, stdin, exit, message) => {
  const { run, sandbox } = await world()
  const { code, stdout, stderr } = await run(argv, { stdin })
  expect({ code, stdout }).toEqual({ code: exit, stdout: '' })
  expect(stderr).toMatch(/^Error: .+\n.+\n$/)
  expect(stderr).toContain(message)
  expect(posts(sandbox)).toEqual([])
})

test.each(['6.14E+10', '0412345678', '+1234567890123456', '+61abc', ''])(
  'phone %j is refused',
  async (phone) => {
    const { run, sandbox } = await world()
    const argv = orderOf('Priya').map((each) => (each === '+61412345678' ? phone : each))
    const outcome = await run([...argv, '--json'])
    expect(outcome.code).toBe(2)
    expect(outcome.json()).toMatchObject({ error: { code: 'invalid_input', field: 'recipient.phone' } })
    expect(posts(sandbox)).toEqual([])
  },
)

const reviewed = { ask: /Is this right/, choose: /^Yes/ }

test('asked for what is missing, reviewed, changed, confirmed; the same as one line at the end', async () => {
  const { run, sandbox } = await world()
  const prompter = new ScriptedPrompter([
    { ask: /Which package/, choose: /Identity check only/ },
    { ask: /Last name/, type: 'Shah' },
    { ask: /Email/, type: 'priya', refused: /no @/ },
    { ask: /Email/, type: 'priya@example.com' },
    { ask: /Phone/, type: '+61 412 345 678' },
    { ask: /Is this right/, choose: /^Change Last name/ },
    { ask: /Last name/, initial: 'Shah', type: 'Rao' },
    reviewed,
  ])
  const { code, stderr } = await run(['request', 'create', '--first-name', 'Priya'], { prompter })
  prompter.finish()
  expect(code).toBe(0)
  expect(sandbox.requests()[0]?.recipient).toMatchObject({ last_name: 'Rao', phone: '+61412345678' })
  expect(stderr).toContain(
    'refcheck request create --package 102 --first-name Priya --last-name Rao --email priya@example.com --phone +61412345678 --yes',
  )
})

test('leaving in the middle sends nothing: 130', async () => {
  const { run, sandbox } = await world()
  const prompter = new ScriptedPrompter([{ ask: /Which package/, leave: true }])
  const { code } = await run(['request', 'create'], { prompter })
  expect(code).toBe(130)
  expect(posts(sandbox)).toEqual([])
})

test('leaving at the review sends nothing', async () => {
  const { run, sandbox } = await world()
  const prompter = new ScriptedPrompter([{ ask: /Is this right/, choose: /^Leave/ }])
  const { code } = await run(orderOf('Priya', []), { prompter })
  prompter.finish()
  expect(code).toBe(130)
  expect(posts(sandbox)).toEqual([])
})

test('--wait goes on to the terminal status', async () => {
  const clock = new ManualClock({ auto: true })
  const { run } = await world({ clock })
  const outcome = await run(orderOf('Priya', ['--yes', '--wait', '--json']), { clock })
  expect(outcome.code).toBe(0)
  expect(outcome.json()).toMatchObject({ status: 'COMPLETED' })
})

test('a 429 is waited out, told, and the order goes out once', async () => {
  const clock = new ManualClock({ auto: true })
  const { run, sandbox } = await world({ clock })
  sandbox.inject({
    on: 'POST /v1/requests',
    fault: { kind: 'status', status: 429, when: 'before', retryAfter: '42' },
  })
  const { code, stderr } = await run(orderOf('Priya'), { clock })
  expect(code).toBe(0)
  expect(stderr).toContain('going on in 42 s')
  expect(clock.sleeps).toContain(42_000)
  expect(sandbox.requests()).toHaveLength(1)
})

test('a 429 beyond --timeout: exit 6, nothing ordered, and the same order is free', async () => {
  const { run, sandbox } = await world()
  sandbox.inject({
    on: 'POST /v1/requests',
    fault: { kind: 'status', status: 429, when: 'before', retryAfter: '42' },
  })
  const clock = new ManualClock({ auto: true })
  const outcome = await run(orderOf('Priya', ['--yes', '--json', '--timeout', '5s']), { clock })
  expect(outcome.code).toBe(6)
  expect(outcome.json()).toMatchObject({ error: { code: 'throttled', status: 429, retry_after: 42 } })
  expect((await run(orderOf('Priya'), { clock })).code).toBe(0)
  expect(clock.sleeps).toContain(42_000)
  expect(sandbox.requests()).toHaveLength(1)
})

test.each([
  ['credits', /credits/],
  ['trial', /trial/i],
  ['subscription', /subscription/i],
])('403 for %s: exit 4, and the hint says what to do', async (cause, words) => {
  const { run, sandbox } = await world()
  if (cause === 'credits') sandbox.setCredits(0)
  if (cause === 'trial') sandbox.expireTrial()
  if (cause === 'subscription') sandbox.deactivateSubscription()
  const { code, stderr } = await run(orderOf('Priya'))
  expect(code).toBe(4)
  expect(stderr).toMatch(words)
  expect(sandbox.requests()).toEqual([])
})

test('an answer that was lost: exit 8, never sent again, and the same order is refused until it is settled', async () => {
  const { run, sandbox } = await world()
  sandbox.inject({ on: 'POST /v1/requests', fault: { kind: 'cut', when: 'after' } })
  const lost = await run(orderOf('Priya', ['--yes', '--json']))
  expect(lost.code).toBe(8)
  expect(lost.json()).toMatchObject({ error: { code: 'outcome_unknown' } })
  const again = await run(orderOf('Priya', ['--yes', '--allow-duplicate']))
  expect(again.code).not.toBe(0)
  expect(sandbox.requests()).toHaveLength(1)
  const list = await run(['request', 'list', '--status', 'unknown', '--json'])
  expect(list.json()).toMatchObject([
    { state: 'unknown', request_id: null, recipient: { email: 'priya@example.com' } },
  ])
})

test('a store that is no store: exit 1, nothing sent', async () => {
  const { run, folder, sandbox } = await world()
  writeFileSync(join(folder, 'notes.txt'), 'these are not the orders you are looking for', { mode: 0o644 })
  const { code, stderr } = await run(orderOf('Priya'), { env: { REFCHECK_STORE: 'notes.txt' } })
  expect(code).toBe(1)
  expect(stderr).toMatch(/^Error: .+\n.+\n$/)
  expect(statSync(join(folder, 'notes.txt')).mode & 0o777).toBe(0o644)
  expect(posts(sandbox)).toEqual([])
})

test('strings of the service never move the cursor', async () => {
  const { run, sandbox } = await world()
  const message = 'recipient.email: \u001B[2J\u001B]0;owned\u0007bad\u202E'
  sandbox.inject({ on: 'POST /v1/requests', fault: { kind: 'status', status: 400, when: 'before', message } })
  const plain = await run(orderOf('Priya'))
  expect(plain.code).toBe(2)
  expect(plain.stderr.replaceAll('\n', '')).not.toMatch(/\p{Cc}|\p{Bidi_Control}/u)
})

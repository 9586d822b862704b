import { spawn } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  lchownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { IoError } from '../../../src/errors/kinds.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { systemRandom } from '../../../src/host/random.ts'
import { ManualClock } from '../../../src/sandbox/control/manual-clock.ts'
import { openJournal } from '../../../src/sandbox/service/journal.ts'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../../src/sandbox/control/embedded.ts'
import { fullOrder, hour, minute, simpleOrder, start } from '../visit.ts'

const openData = (path: string) =>
  openJournal(path, { clock: systemClock, random: systemRandom, pid: process.pid })

function dataFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-data-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'state')
}

async function open(path: string, options: Partial<SandboxOptions> = {}) {
  const clock = new ManualClock(start)
  const sandbox = createSandbox({ clock, data: await openData(path), quota: [], ...options })
  return { sandbox, clock }
}

async function call(sandbox: Sandbox, path: string, body?: object): Promise<unknown> {
  const { apiKey, userEmail } = sandbox.credentials
  const answer = await sandbox.fetch(
    new Request(`http://127.0.0.1:1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'X-Service-API-Key': apiKey,
        'X-Service-User-Email': userEmail,
        'Content-Type': 'application/json',
      },
      body: body === undefined ? null : JSON.stringify(body),
    }),
  )
  return ((await answer.json()) as { data: unknown }).data
}

const order = async (sandbox: Sandbox, body: object = simpleOrder): Promise<string> =>
  ((await call(sandbox, '/v1/requests', body)) as { request_id: string }).request_id

test('a sandbox goes on where it was closed: requests, switches, rules, quota and clock', async () => {
  const path = dataFile()
  const quota = [{ calls: 2, seconds: 3600 }]
  const before = await open(path, { seed: 'mine', quota })
  const id = await order(before.sandbox, fullOrder)
  await before.sandbox.advance(30 * minute)
  before.sandbox.setCredits(7)
  before.sandbox.setRule('created-at-form', 'seconds')
  const read = await call(before.sandbox, `/v1/requests/${id}`)
  const { credentials } = before.sandbox
  before.sandbox.close()

  const after = await open(path, { quota })
  onTestFinished(() => after.sandbox.close())
  expect(after.sandbox.credentials).toEqual(credentials)
  expect(after.clock.now()).toBe(start + 30 * minute)
  expect(after.sandbox.overview()).toMatchObject({ credits: 7, seed: 'mine', requests: { PARTIAL: 1 } })
  expect(after.sandbox.overview().quota).toMatchObject([{ used: 2 }])
  expect(await call(after.sandbox, `/v1/requests/${id}`)).toBeNull()
  await after.sandbox.advance(30 * minute)
  const again = await call(after.sandbox, `/v1/requests/${id}`)
  expect(again).toMatchObject({ request_id: id, status: 'COMPLETED', created_at: '2026-03-02T09:00:00Z' })
  expect(read).toMatchObject({ request_id: id, status: 'PARTIAL' })
  expect(await order(after.sandbox)).not.toBe(id)
})

test('a token issued before is good after, until its hour is over', async () => {
  const path = dataFile()
  const before = await open(path)
  const id = await order(before.sandbox)
  await before.sandbox.advance(hour)
  const { checks } = (await call(before.sandbox, `/v1/requests/${id}`)) as {
    checks: { report_pdf_url: string }[]
  }
  before.sandbox.close()
  const after = await open(path)
  onTestFinished(() => after.sandbox.close())
  const get = async () => (await after.sandbox.fetch(new Request(checks[0]?.report_pdf_url ?? ''))).status
  expect(await get()).toBe(200)
  await after.sandbox.advance(hour)
  expect(await get()).toBe(401)
})

test('events that were due or unacknowledged when it stopped are sent when it goes on', async () => {
  const path = dataFile()
  const webhookUrl = 'https://hooks.example.com/in'
  const before = await open(path, { webhookUrl, deliver: () => Promise.resolve(500) })
  await order(before.sandbox)
  await before.sandbox.advance(5 * minute)
  before.sandbox.close()
  const statuses: string[] = []
  const after = await open(path, {
    deliver: (_url, _headers, body) => {
      statuses.push((JSON.parse(Buffer.from(body).toString()) as { status: string }).status)
      return Promise.resolve(200)
    },
  })
  onTestFinished(() => after.sandbox.close())
  await after.sandbox.advance(hour)
  expect(statuses).toEqual(['IN_PROGRESS', 'COMPLETED'])
})

test('what is not private stays private: the file is for its owner only', async () => {
  const path = dataFile()
  const { sandbox } = await open(path)
  sandbox.close()
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

// Only root can make a link that belongs to another account.
const otherAccounts = process.getuid?.() === 0 ? [65_534] : []

test.each(otherAccounts)('data behind a symbolic link of account %i is not used or made', async (account) => {
  const path = dataFile()
  const target = join(path, '..', 'target')
  symlinkSync(target, path)
  lchownSync(path, account, account)
  await expect(openData(path)).rejects.toThrow(/another user of this machine may have made the symbolic link/)
  expect(readdirSync(join(path, '..'))).toEqual(['state'])
})

test('data in a folder that others may write to is refused, unless the sticky bit protects it', async () => {
  const path = dataFile()
  chmodSync(join(path, '..'), 0o777)
  await expect(openData(path)).rejects.toThrow(/other users of this machine may exchange what is in/)
  expect(readdirSync(join(path, '..'))).toEqual([])
  chmodSync(join(path, '..'), 0o1777)
  const journal = await openData(path)
  journal.close()
  expect(readdirSync(join(path, '..'))).toContain('state')
})

test('two sandboxes never share a file', async () => {
  const path = dataFile()
  const first = await open(path)
  await expect(openData(path)).rejects.toThrow(`${path} is in use by another sandbox`)
  first.sandbox.close()
  const second = await open(path)
  second.sandbox.close()
})

test('a line that a kill cut short is dropped, and what follows is whole', async () => {
  const path = dataFile()
  const before = await open(path)
  const id = await order(before.sandbox)
  before.sandbox.close()
  appendFileSync(path, '{"does":"request","request":{"numb')
  const torn = await open(path)
  const second = await order(torn.sandbox)
  torn.sandbox.close()
  const after = await open(path)
  onTestFinished(() => after.sandbox.close())
  expect(after.sandbox.requests().map(({ request_id }) => request_id)).toEqual([id, second])
})

test.each([
  ['another file', 'first_name,last_name\n'],
  ['other JSON', '{"name":"x"}\n'],
  ['a damaged line', '{"refcheck_sandbox":1}\n{"does":\n'],
  ['a line of somebody’s notes, without an end', 'do not lose this'],
  ['a line that is no change', '{"refcheck_sandbox":1}\nnull\n'],
  ['a change of an unknown kind', '{"refcheck_sandbox":1}\n{"does":"toString","toString":{}}\n'],
  ['a change of nothing', '{"refcheck_sandbox":1}\n{"does":"user"}\n'],
  [
    'a state without an organisation',
    '{"refcheck_sandbox":1}\n{"does":"team","team":{"id":"1","organisation_id":"2","name":"N","active":true}}\n',
  ],
])('%s is left as it is', async (_what, text) => {
  const path = dataFile()
  writeFileSync(path, text)
  const error = await openData(path).catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(IoError)
  expect((error as IoError).message).toBe(`${path} is not a sandbox's data, or is damaged`)
  expect(readFileSync(path, 'utf8')).toBe(text)
})

test('a folder that does not exist is an IoError', async () => {
  await expect(openData(join(dataFile(), 'nowhere', 'state'))).rejects.toBeInstanceOf(IoError)
})

test('another seed than the data was made with is refused', async () => {
  const path = dataFile()
  const { sandbox } = await open(path, { seed: 1 })
  sandbox.close()
  const data = await openData(path)
  expect(() => createSandbox({ clock: new ManualClock(start), data, seed: 2 })).toThrow(
    `${path} was made with the seed "1", not "2"`,
  )
  const again = await open(path)
  again.sandbox.close()
})

test('a file grown long with what is out of date is written again', async () => {
  const path = dataFile()
  const { sandbox } = await open(path)
  onTestFinished(() => sandbox.close())
  let longest = 0
  for (let change = 0; change < 4000; change += 1) {
    sandbox.setWebhook(`https://hooks.example.com/${'x'.repeat(6000)}`)
    longest = Math.max(longest, statSync(path).size)
  }
  expect(longest).toBeGreaterThan(10_000_000)
  expect(longest).toBeLessThan(17_000_000)
})

test('snapshot, restore and reset reach the file too', async () => {
  const path = dataFile()
  const before = await open(path)
  const id = await order(before.sandbox)
  const snapshot = before.sandbox.snapshot()
  await order(before.sandbox)
  before.sandbox.restore(snapshot)
  before.sandbox.close()
  const after = await open(path)
  expect(after.sandbox.requests().map(({ request_id }) => request_id)).toEqual([id])
  after.sandbox.reset()
  after.sandbox.close()
  const last = await open(path)
  onTestFinished(() => last.sandbox.close())
  expect(last.sandbox.requests()).toEqual([])
})

test('kill -9 at any moment loses no request that was answered', async () => {
  const path = dataFile()
  const program = new URL('programs/ordering-sandbox.ts', import.meta.url).pathname
  const answered = new Set<string>()
  for (let kill = 0; kill < 5; kill += 1) {
    const child = spawn(process.execPath, [program, path], { stdio: ['ignore', 'pipe', 'inherit'] })
    let text = ''
    const wanted = 200 + 173 * kill
    for await (const chunk of child.stdout) {
      text += String(chunk)
      if (text.split('\n').length > wanted) child.kill('SIGKILL')
    }
    for (const id of text.split('\n').slice(0, -1)) answered.add(id)
  }
  const { sandbox } = await open(path)
  onTestFinished(() => sandbox.close())
  const stored = new Set(sandbox.requests().map(({ request_id }) => request_id))
  expect(answered.size).toBeGreaterThan(1000)
  expect([...answered].filter((id) => !stored.has(id))).toEqual([])
  expect(stored.size - answered.size).toBeLessThanOrEqual(5)
})

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
import { fullOrder, hour, minute, simpleOrder, startTime } from '../sandbox-client.ts'

const openData = (path: string) =>
  openJournal(path, { clock: systemClock, random: systemRandom, pid: process.pid })

function createDataPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-data-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'state')
}

async function openSandbox(path: string, options: Partial<SandboxOptions> = {}) {
  const clock = new ManualClock(startTime)
  const sandbox = createSandbox({ clock, journal: await openData(path), quota: [], ...options })
  return { sandbox, clock }
}

async function callSandbox(sandbox: Sandbox, path: string, body?: object): Promise<unknown> {
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
  ((await callSandbox(sandbox, '/v1/requests', body)) as { request_id: string }).request_id

test('a sandbox that is opened again has its earlier requests, switches, rules, quota and clock', async () => {
  const path = createDataPath()
  const quota = [{ calls: 2, seconds: 3600 }]
  const before = await openSandbox(path, { seed: 'mine', quota })
  const id = await order(before.sandbox, fullOrder)
  await before.sandbox.advance(30 * minute)
  before.sandbox.setCredits(7)
  before.sandbox.setRule('created-at-form', 'seconds')
  const readBefore = await callSandbox(before.sandbox, `/v1/requests/${id}`)
  const { credentials } = before.sandbox
  before.sandbox.close()

  const after = await openSandbox(path, { quota })
  onTestFinished(() => after.sandbox.close())
  expect(after.sandbox.credentials).toEqual(credentials)
  expect(after.clock.now()).toBe(startTime + 30 * minute)
  expect(after.sandbox.overview()).toMatchObject({ credits: 7, seed: 'mine', requests: { PARTIAL: 1 } })
  expect(after.sandbox.overview().quota).toMatchObject([{ used: 2 }])
  expect(await callSandbox(after.sandbox, `/v1/requests/${id}`)).toBeNull()
  await after.sandbox.advance(30 * minute)
  const readAfter = await callSandbox(after.sandbox, `/v1/requests/${id}`)
  expect(readAfter).toMatchObject({ request_id: id, status: 'COMPLETED', created_at: '2026-03-02T09:00:00Z' })
  expect(readBefore).toMatchObject({ request_id: id, status: 'PARTIAL' })
  expect(await order(after.sandbox)).not.toBe(id)
})

test('a report token that was issued before the sandbox was closed is valid for its whole hour', async () => {
  const path = createDataPath()
  const before = await openSandbox(path)
  const id = await order(before.sandbox)
  await before.sandbox.advance(hour)
  const { checks } = (await callSandbox(before.sandbox, `/v1/requests/${id}`)) as {
    checks: { report_pdf_url: string }[]
  }
  before.sandbox.close()
  const after = await openSandbox(path)
  onTestFinished(() => after.sandbox.close())
  const downloadStatus = async () =>
    (await after.sandbox.fetch(new Request(checks[0]?.report_pdf_url ?? ''))).status
  expect(await downloadStatus()).toBe(200)
  await after.sandbox.advance(hour)
  expect(await downloadStatus()).toBe(401)
})

test('events that were due or unacknowledged when the sandbox was closed are sent when it is opened again', async () => {
  const path = createDataPath()
  const webhookUrl = 'https://hooks.example.com/in'
  const before = await openSandbox(path, { webhookUrl, deliver: () => Promise.resolve(500) })
  await order(before.sandbox)
  await before.sandbox.advance(5 * minute)
  before.sandbox.close()
  const statuses: string[] = []
  const after = await openSandbox(path, {
    deliver: (_url, _headers, body) => {
      statuses.push((JSON.parse(Buffer.from(body).toString()) as { status: string }).status)
      return Promise.resolve(200)
    },
  })
  onTestFinished(() => after.sandbox.close())
  await after.sandbox.advance(hour)
  expect(statuses).toEqual(['IN_PROGRESS', 'COMPLETED'])
})

test('only the owner of the data file may read and write it', async () => {
  const path = createDataPath()
  const { sandbox } = await openSandbox(path)
  sandbox.close()
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

// Only root can make a link that belongs to another account.
const foreignAccounts = process.getuid?.() === 0 ? [65_534] : []

test.each(foreignAccounts)(
  'data behind a symbolic link of account %i is neither used nor created',
  async (account) => {
    const path = createDataPath()
    const target = join(path, '..', 'target')
    symlinkSync(target, path)
    lchownSync(path, account, account)
    await expect(openData(path)).rejects.toThrow(
      /another user of this machine may have made the symbolic link/,
    )
    expect(readdirSync(join(path, '..'))).toEqual(['state'])
  },
)

test('data in a folder to which other users may write is refused, unless the folder has the sticky bit', async () => {
  const path = createDataPath()
  chmodSync(join(path, '..'), 0o777)
  await expect(openData(path)).rejects.toThrow(/other users of this machine may exchange what is in/)
  expect(readdirSync(join(path, '..'))).toEqual([])
  chmodSync(join(path, '..'), 0o1777)
  const journal = await openData(path)
  journal.close()
  expect(readdirSync(join(path, '..'))).toContain('state')
})

test('a data file that one sandbox uses cannot be opened by another', async () => {
  const path = createDataPath()
  const first = await openSandbox(path)
  await expect(openData(path)).rejects.toThrow(`${path} is in use by another sandbox`)
  first.sandbox.close()
  const second = await openSandbox(path)
  second.sandbox.close()
})

test('an incomplete last line is dropped, and the lines written after it are complete', async () => {
  const path = createDataPath()
  const before = await openSandbox(path)
  const id = await order(before.sandbox)
  before.sandbox.close()
  appendFileSync(path, '{"does":"request","request":{"numb')
  const reopened = await openSandbox(path)
  const second = await order(reopened.sandbox)
  reopened.sandbox.close()
  const after = await openSandbox(path)
  onTestFinished(() => after.sandbox.close())
  expect(after.sandbox.requests().map(({ request_id }) => request_id)).toEqual([id, second])
})

test.each([
  ['another file', 'first_name,last_name\n'],
  ['other JSON', '{"name":"x"}\n'],
  ['a damaged line', '{"refcheck_sandbox":1}\n{"does":\n'],
  ['a text without a line end', 'do not lose this'],
  ['a line that is not a change', '{"refcheck_sandbox":1}\nnull\n'],
  ['a change of an unknown kind', '{"refcheck_sandbox":1}\n{"does":"toString","toString":{}}\n'],
  ['a change without a value', '{"refcheck_sandbox":1}\n{"does":"user"}\n'],
  [
    'a state without an organisation',
    '{"refcheck_sandbox":1}\n{"does":"team","team":{"id":"1","organisation_id":"2","name":"N","active":true}}\n',
  ],
])('a file that is no valid sandbox data (%s) is refused and not changed', async (_label, text) => {
  const path = createDataPath()
  writeFileSync(path, text)
  const error = await openData(path).catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(IoError)
  expect((error as IoError).message).toBe(`${path} is not a sandbox's data, or is damaged`)
  expect(readFileSync(path, 'utf8')).toBe(text)
})

test('data in a folder that does not exist is an IoError', async () => {
  await expect(openData(join(createDataPath(), 'nowhere', 'state'))).rejects.toBeInstanceOf(IoError)
})

test('a seed that differs from the seed of the data is refused', async () => {
  const path = createDataPath()
  const { sandbox } = await openSandbox(path, { seed: 1 })
  sandbox.close()
  const journal = await openData(path)
  expect(() => createSandbox({ clock: new ManualClock(startTime), journal, seed: 2 })).toThrow(
    `${path} was made with the seed "1", not "2"`,
  )
  const reopened = await openSandbox(path)
  reopened.sandbox.close()
})

test('a data file that has grown by outdated lines is compacted', async () => {
  const path = createDataPath()
  const { sandbox } = await openSandbox(path)
  onTestFinished(() => sandbox.close())
  let largestSize = 0
  for (let change = 0; change < 4000; change += 1) {
    sandbox.setWebhook(`https://hooks.example.com/${'x'.repeat(6000)}`)
    largestSize = Math.max(largestSize, statSync(path).size)
  }
  expect(largestSize).toBeGreaterThan(10_000_000)
  expect(largestSize).toBeLessThan(17_000_000)
})

test('restore and reset also change the data file', async () => {
  const path = createDataPath()
  const before = await openSandbox(path)
  const id = await order(before.sandbox)
  const snapshot = before.sandbox.snapshot()
  await order(before.sandbox)
  before.sandbox.restore(snapshot)
  before.sandbox.close()
  const after = await openSandbox(path)
  expect(after.sandbox.requests().map(({ request_id }) => request_id)).toEqual([id])
  after.sandbox.reset()
  after.sandbox.close()
  const afterReset = await openSandbox(path)
  onTestFinished(() => afterReset.sandbox.close())
  expect(afterReset.sandbox.requests()).toEqual([])
})

test('no request whose create was answered is lost when the process is killed', async () => {
  const path = createDataPath()
  const program = new URL('programs/ordering-sandbox.ts', import.meta.url).pathname
  const answeredIds = new Set<string>()
  for (let round = 0; round < 5; round += 1) {
    const child = spawn(process.execPath, [program, path], { stdio: ['ignore', 'pipe', 'inherit'] })
    let text = ''
    const idCount = 200 + 173 * round
    for await (const chunk of child.stdout) {
      text += String(chunk)
      if (text.split('\n').length > idCount) child.kill('SIGKILL')
    }
    for (const id of text.split('\n').slice(0, -1)) answeredIds.add(id)
  }
  const { sandbox } = await openSandbox(path)
  onTestFinished(() => sandbox.close())
  const storedIds = new Set(sandbox.requests().map(({ request_id }) => request_id))
  expect(answeredIds.size).toBeGreaterThan(1000)
  expect([...answeredIds].filter((id) => !storedIds.has(id))).toEqual([])
  expect(storedIds.size - answeredIds.size).toBeLessThanOrEqual(5)
})

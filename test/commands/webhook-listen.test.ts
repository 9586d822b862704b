import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'

import { describe, expect, onTestFinished, test } from 'vitest'

import { eventBody, post, requestIds } from '../harness/deliveries.ts'
import { listening } from '../harness/listening.ts'
import { type World, world } from '../harness/world.ts'

const [one, two] = requestIds as [string, string]

interface Listed {
  id: number
  request_id: string
  status: string
  forwarded: boolean
}

const secretOf = ({ env }: World): string => env['REFCHECK_WEBHOOK_SECRET'] ?? ''
const inbox = async ({ run }: World): Promise<Listed[]> =>
  (await run(['webhook', 'events', 'list', '--json'])).json() as Listed[]

interface App {
  url: string
  /** Bodies and signatures, in the order they were taken. */
  taken: { body: string; signature: string }[]
  /** Statuses of the next answers; 204 after them. */
  answers: number[]
}

/** The person's own handler. */
async function app(): Promise<App> {
  const state: App = { url: '', taken: [], answers: [] }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const status = state.answers.shift() ?? 204
      if (status < 300) {
        const signature = String(request.headers['x-service-signature'])
        state.taken.push({ body: Buffer.concat(chunks).toString(), signature })
      }
      response.writeHead(status).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  state.url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/hooks`
  return state
}

describe('a delivery', () => {
  test('that is genuine is kept, acknowledged and told', async () => {
    const place = await world()
    const receiver = await listening(place)
    expect(await post(receiver.url, secretOf(place), { body: eventBody() })).toBe(204)
    const { code, stdout, stderr } = await receiver.stop()
    expect(code).toBe(130)
    expect(stdout).toMatch(/^\d\d:\d\d:\d\d {2}11111111-1111-4111-8111-111111111111 {2}PARTIAL\n$/)
    expect(stderr).toContain('interrupted; 1 new event kept')
    expect(await inbox(place)).toEqual([
      {
        id: 1,
        received_at: expect.any(String) as string,
        request_id: one,
        status: 'PARTIAL',
        forwarded: false,
      },
    ])
  })

  test.each([
    ['without a signature', null],
    ['with another one', 'a'.repeat(64)],
    ['with a prefix', `sha256=${'a'.repeat(64)}`],
  ])('%s is refused with 401 and not kept', async (_what, signature) => {
    const place = await world()
    const receiver = await listening(place, ['--json'])
    expect(await post(receiver.url, secretOf(place), { body: eventBody(), signature })).toBe(401)
    const { stdout, stderr } = await receiver.stop()
    expect(stdout).toBe('')
    expect(stderr).toContain('Refused a delivery: ')
    expect(await inbox(place)).toEqual([])
  })

  test('that comes twice is acknowledged twice and kept once', async () => {
    const place = await world()
    const receiver = await listening(place, ['--json'])
    const delivery = { body: eventBody() }
    expect(await post(receiver.url, secretOf(place), delivery)).toBe(204)
    expect(await post(receiver.url, secretOf(place), delivery)).toBe(204)
    const lines = (await receiver.stop()).stdout.trim().split('\n')
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { id: 1, status: 'PARTIAL', repeated: false },
      { id: 1, status: 'PARTIAL', repeated: true },
    ])
    expect(await inbox(place)).toHaveLength(1)
  })

  test.each([
    ['an unknown status', eventBody(one, 'SHINY'), /the status "SHINY" is not known/],
    [
      'an unknown event',
      eventBody().replace('request.updated', 'request.created'),
      /the event .* is not known/,
    ],
    ['no JSON', 'hello', /is not an event/],
  ])('that is signed but odd (%s) is kept and flagged', async (_what, body, words) => {
    const place = await world()
    const receiver = await listening(place, ['--json'])
    expect(await post(receiver.url, secretOf(place), { body })).toBe(204)
    const { stdout } = await receiver.stop()
    expect((JSON.parse(stdout) as { oddity: string }).oddity).toMatch(words)
    expect(await inbox(place)).toHaveLength(1)
  })

  test('too large 413, another path 404, another method 405; a GET says that it is well', async () => {
    const place = await world()
    const receiver = await listening(place, ['--path', '/in'])
    expect(receiver.url.endsWith('/in')).toBe(true)
    expect(await post(receiver.url, secretOf(place), { body: 'x'.repeat(1024 * 1024 + 1) })).toBe(413)
    expect(await post(receiver.url.replace('/in', '/out'), secretOf(place), { body: eventBody() })).toBe(404)
    expect((await fetch(receiver.url, { method: 'DELETE' })).status).toBe(405)
    const health = await fetch(receiver.url)
    expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }])
    await receiver.stop()
    expect(await inbox(place)).toEqual([])
  })

  test('its health is told at / too, wherever deliveries are taken', async () => {
    const receiver = await listening(await world(), ['--path', '/in'])
    const health = await fetch(new URL('/', receiver.url))
    expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }])
    expect((await fetch(new URL('/', receiver.url), { method: 'POST', body: 'x' })).status).toBe(404)
    expect((await fetch(new URL('/out', receiver.url))).status).toBe(404)
    await receiver.stop()
  })

  test.each([
    ['no PEM', 'README.md', 'service.key'],
    ['another key', 'service.pem', 'other.key'],
  ])('a TLS pair that is none (%s) is refused in words', async (_what, cert, key) => {
    const vectors = join(import.meta.dirname, '..', 'vectors', 'tls')
    const { run } = await world()
    const tls = ['--tls-cert', join(vectors, cert), '--tls-key', join(vectors, key)]
    const { code, stderr } = await run(['webhook', 'listen', '--port', '0', ...tls])
    expect([code, stderr]).toMatchObject([
      2,
      expect.stringMatching(/^Error: the TLS certificate and its key cannot be used\nBoth are PEM files/),
    ])
  })

  test('a certificate that is not there is a wrong path: exit 2', async () => {
    const { run } = await world()
    const argv = ['webhook', 'listen', '--port', '0', '--tls-cert', 'none.pem', '--tls-key', 'none.key']
    const { code, stderr } = await run(argv)
    expect([code, stderr]).toEqual([2, 'Error: there is no file none.pem\nCheck the path.\n'])
  })

  test('--max-events ends it, exit 0', async () => {
    const place = await world()
    const receiver = await listening(place, ['--max-events', '2'])
    for (const status of ['IN_PROGRESS', 'IN_PROGRESS', 'COMPLETED']) {
      expect(await post(receiver.url, secretOf(place), { body: eventBody(one, status) })).toBe(204)
    }
    expect((await receiver.ended).code).toBe(0)
    expect(await inbox(place)).toHaveLength(2)
  })

  test('over TLS', async () => {
    const place = await world()
    const vectors = join(import.meta.dirname, '..', 'vectors', 'tls')
    const tls = ['--tls-cert', join(vectors, 'service.pem'), '--tls-key', join(vectors, 'service.key')]
    const receiver = await listening(place, tls)
    expect(receiver.url).toMatch(/^https:/)
    await receiver.stop()
  })

  test('no secret, no receiver', async () => {
    const { run } = await world()
    const outcome = await run(['webhook', 'listen', '--port', '0'], { env: { REFCHECK_WEBHOOK_SECRET: '' } })
    expect(outcome.code).not.toBe(0)
    expect(outcome.stderr).toContain('Without a secret anybody could sign')
  })
})

describe('handing on', () => {
  test('keeps the bytes and the signature', async () => {
    const place = await world()
    const handler = await app()
    const receiver = await listening(place, ['--forward-to', handler.url, '--max-events', '1'])
    const body = `{ "event" : "request.updated",\n "request_id":"${one}", "status":"PARTIAL" }\n`
    await post(receiver.url, secretOf(place), { body })
    expect((await receiver.ended).code).toBe(0)
    expect(handler.taken).toEqual([{ body, signature: expect.stringMatching(/^[0-9a-f]{64}$/) as string }])
    expect(await inbox(place)).toMatchObject([{ forwarded: true }])
  })

  test('a failure is tried again within a second, and holds back its own request alone', async () => {
    const place = await world()
    const handler = await app()
    handler.answers = [503, 503]
    const receiver = await listening(place, ['--forward-to', handler.url, '--max-events', '3'])
    for (const body of [
      eventBody(one, 'IN_PROGRESS'),
      eventBody(one, 'COMPLETED'),
      eventBody(two, 'PARTIAL'),
    ]) {
      await post(receiver.url, secretOf(place), { body })
    }
    const { code, stderr } = await receiver.ended
    expect(code).toBe(0)
    expect(stderr).toContain('was not taken: 503; trying again in 0.5 s')
    const order = handler.taken.map(({ body }) => body)
    expect(order.indexOf(eventBody(one, 'IN_PROGRESS'))).toBeLessThan(
      order.indexOf(eventBody(one, 'COMPLETED')),
    )
    expect(order).toHaveLength(3)
  })

  test('what was not handed on goes first after a restart', async () => {
    const place = await world()
    const handler = await app()
    handler.answers = Array.from({ length: 50 }, () => 503)
    const first = await listening(place, ['--forward-to', handler.url])
    await post(first.url, secretOf(place), { body: eventBody(one, 'PARTIAL') })
    await first.stop()
    handler.answers = []
    const second = await listening(place, ['--forward-to', handler.url, '--max-events', '1'])
    await post(second.url, secretOf(place), { body: eventBody(one, 'COMPLETED') })
    await second.ended
    expect(handler.taken.map(({ body }) => body)).toEqual([
      eventBody(one, 'PARTIAL'),
      eventBody(one, 'COMPLETED'),
    ])
  })

  test('two receivers on one store hand each event on once', async () => {
    const place = await world()
    const handler = await app()
    const both = [
      await listening(place, ['--forward-to', handler.url]),
      await listening(place, ['--forward-to', handler.url]),
    ]
    for (const [at, status] of ['IN_PROGRESS', 'PARTIAL', 'COMPLETED'].entries()) {
      await post(both[at % 2]?.url ?? '', secretOf(place), { body: eventBody(one, status) })
    }
    while (handler.taken.length < 3) await new Promise((resolve) => setImmediate(resolve))
    for (const each of both) await each.stop()
    expect(handler.taken.map(({ body }) => body)).toEqual(
      ['IN_PROGRESS', 'PARTIAL', 'COMPLETED'].map((status) => eventBody(one, status)),
    )
  })

  test('--exec gets the event on its standard input, without a shell and without secrets', async () => {
    const place = await world()
    mkdirSync(join(place.folder, 'a folder'))
    const script = join(place.folder, 'a folder', 'on event.mjs')
    const out = join(place.folder, 'out.json')
    writeFileSync(
      script,
      `import { readFileSync, writeFileSync } from 'node:fs'
       writeFileSync(process.argv[2], JSON.stringify({
         stdin: readFileSync(0, 'utf8'), rest: process.argv.slice(3),
         secrets: Object.keys(process.env).filter((name) => /API_KEY|SECRET/.test(name)),
       }))`,
    )
    const exec = `"${process.execPath}" '${script}' ${out} '$HOME; echo' *`
    const receiver = await listening(place, ['--exec', exec, '--max-events', '1'])
    await post(receiver.url, secretOf(place), { body: eventBody() })
    expect((await receiver.ended).code).toBe(0)
    expect(JSON.parse(readFileSync(out, 'utf8'))).toEqual({
      stdin: eventBody(),
      rest: ['$HOME; echo', '*'],
      secrets: [],
    })
  })

  test('to a plain http address elsewhere is refused before it listens', async () => {
    const { run } = await world()
    const outcome = await run(['webhook', 'listen', '--port', '0', '--forward-to', 'http://example.com/'])
    expect(outcome.code).toBe(2)
    expect(outcome.stderr).not.toContain('Listening')
  })
})

describe('the inbox', () => {
  async function filled(): Promise<World> {
    const place = await world()
    const receiver = await listening(place)
    for (const body of [eventBody(one, 'PARTIAL'), eventBody(two, 'PARTIAL'), eventBody(two, 'COMPLETED')]) {
      await post(receiver.url, secretOf(place), { body })
    }
    await receiver.stop()
    return place
  }

  test('is listed by status, request and time', async () => {
    const place = await filled()
    const ids = async (...argv: string[]): Promise<number[]> =>
      ((await place.run(['webhook', 'events', 'list', '--json', ...argv])).json() as Listed[]).map(
        ({ id }) => id,
      )
    expect(await ids()).toEqual([1, 2, 3])
    expect(await ids('--status', 'completed')).toEqual([3])
    expect(await ids('--request-id', two)).toEqual([2, 3])
    expect(await ids('--since', '1h')).toEqual([1, 2, 3])
    expect(await ids('--until', '1h')).toEqual([])
  })

  test('shows an event whole, and says which there is not', async () => {
    const place = await filled()
    expect((await place.run(['webhook', 'events', 'show', '3', '--json'])).json()).toMatchObject({
      id: 3,
      status: 'COMPLETED',
      body: eventBody(two, 'COMPLETED'),
      body_base64: null,
    })
    expect((await place.run(['webhook', 'events', 'show', '9'])).code).toBe(5)
  })

  test('is exported, verified, and imported elsewhere', async () => {
    const place = await filled()
    const file = join(place.folder, 'events.ndjson')
    expect((await place.run(['webhook', 'events', 'list', '--export', file])).code).toBe(0)
    expect((await place.run(['webhook', 'verify', '--all', file])).code).toBe(0)
    const env = { REFCHECK_STORE: join(place.folder, 'other.sqlite') }
    const imported = await place.run(['webhook', 'events', 'import', file, '--json'], { env })
    expect(imported.json()).toEqual({ read: 3, added: 3, repeated: 0 })
    expect((await place.run(['webhook', 'events', 'import', file, '--json'], { env })).json()).toEqual({
      read: 3,
      added: 0,
      repeated: 3,
    })
    writeFileSync(file, readFileSync(file, 'utf8').replace('COMPLETED\\"', 'CANCELLED\\"'))
    const forged = await place.run(['webhook', 'events', 'import', file])
    expect([forged.code, forged.stderr]).toMatchObject([2, expect.stringContaining('line 3')])
  })

  test('is replayed to a handler', async () => {
    const place = await filled()
    const handler = await app()
    const outcome = await place.run(['webhook', 'events', 'replay', '3', '1', '--to', handler.url, '--json'])
    expect([outcome.code, outcome.json()]).toMatchObject([
      0,
      [
        { id: 3, status: 204 },
        { id: 1, status: 204 },
      ],
    ])
    expect(handler.taken.map(({ body }) => body)).toEqual([
      eventBody(two, 'COMPLETED'),
      eventBody(one, 'PARTIAL'),
    ])
    handler.answers = [500]
    expect((await place.run(['webhook', 'events', 'replay', '1', '--to', handler.url])).code).toBe(10)
  })

  test('settles an order whose outcome is unknown', async () => {
    const place = await world()
    const argv = [
      '--first-name',
      'Ana',
      '--last-name',
      'Silva',
      '--email',
      'ana+cut-after@example.com',
      '--phone',
      '+61400000001',
    ]
    expect((await place.run(['request', 'create', '--package', '102', ...argv, '--yes'])).code).toBe(8)
    const id = place.sandbox.requests()[0]?.request_id
    const receiver = await listening(place)
    await post(receiver.url, secretOf(place), { body: eventBody(id, 'IN_PROGRESS') })
    await receiver.stop()
    const outcome = await place.run(['batch', 'reconcile', '--json'])
    expect([outcome.code, outcome.json()]).toMatchObject([0, { settled: [{ request_id: id }] }])
  })
})

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { systemClock } from '../../src/host/clock.ts'
import { type WebhookSession, webhookSession } from '../harness/webhook-session.ts'
import { addressOfReceiver } from '../harness/receivers/planted.ts'
import { handler } from '../usecases/webhook/receivers/handler.ts'
import { secret, serve } from '../usecases/webhook/receivers/served.ts'

/** Starts a correct receiver that stores events in `stored.ndjson`, and returns them at a second URL. */
async function startStoringReceiver({ folder }: WebhookSession) {
  const file = join(folder, 'stored.ndjson')
  const lines: string[] = []
  writeFileSync(file, '')
  const url = await handler({
    statusFor(body) {
      const value: unknown = JSON.parse(body.toString())
      if (typeof value !== 'object' || value === null || !('request_id' in value) || !('status' in value))
        return 400
      if (typeof value.request_id !== 'string') return 400
      const line = JSON.stringify({ request_id: value.request_id, status: value.status })
      if (!lines.includes(line)) lines.push(line)
      writeFileSync(file, lines.map((each) => `${each}\n`).join(''))
      return 204
    },
  })()
  const storedUrl = await serve((_request, response) => void response.end(`[${lines.join(',')}]`))
  return { url, storedUrl, file }
}

test('check-receiver --stored-url and --stored-file check which events the receiver has stored', async () => {
  const here = await webhookSession()
  const { url, storedUrl } = await startStoringReceiver(here)
  expect(await here.webhook(`check-receiver ${url} --only stored`)).toMatchInlineSnapshot(`
    $ refcheck webhook check-receiver http://127.0.0.1:PORT_1/hook --only stored
    2> Sending made-up events to http://127.0.0.1:PORT_1/hook, signed with the webhook secret; the requests they name do not exist.
    not judged  answered 2xx; whether it was stored once cannot be seen: add --stored-url URL or --stored-file FILE
            stored-first, stored-once, stored-each-status, stored-in-order, stored-burst, stored-forged, stored-all, stored-restart

    passed  http://127.0.0.1:PORT_1/hook: 0 passed, 0 with advice, 0 failed, 8 not judged. 1 delivery; the slowest acceptance took # ms.
    exit 0
  `)
  const byUrl = await here.webhook(`check-receiver ${url} --only stored --stored-url ${storedUrl}`)
  expect(byUrl).toMatchInlineSnapshot(`
    $ refcheck webhook check-receiver http://127.0.0.1:PORT_1/hook --only stored --stored-url http://127.0.0.1:PORT_2/hook
    2> Sending made-up events to http://127.0.0.1:PORT_1/hook, signed with the webhook secret; the requests they name do not exist.
    passed  stored-first  each event is stored before it is acknowledged
    passed  stored-once  the same event three times in turn, and four times at once, is stored once
    passed  stored-each-status  three statuses of one request are three events
    passed  stored-in-order  events delivered one after another are stored in that order
    passed  stored-burst  100 events side by side are all stored
    passed  stored-forged  forged events are not stored, whatever is answered
    passed  stored-all  all that was acknowledged in this check is stored once, and nothing that was forged
    not judged  whether acknowledged events outlive a crash cannot be seen: add --restart COMMAND with --stored-url or --stored-file
            stored-restart

    passed  http://127.0.0.1:PORT_1/hook: 7 passed, 0 with advice, 0 failed, 1 not judged. 133 deliveries; the slowest acceptance took # ms.
    exit 0
  `)
  const byFile = await here.webhook(`check-receiver ${url} --only stored --stored-file stored.ndjson --json`)
  const { counts } = byFile.json() as { counts: unknown }
  expect(counts).toEqual({ cases: 8, passed: 7, advised: 0, failed: 0, not_judged: 1 })
})

test('check-receiver with a --stored-url that cannot be read exits with 7, and sends nothing', async () => {
  const { webhook } = await webhookSession()
  const sent: string[] = []
  const url = await handler({
    statusFor(body) {
      sent.push(body.toString())
      return 204
    },
  })()
  const answers = {
    text: 'not a list',
    object: '{"events": []}',
    item: '[{"request_id": "a", "status": "COMPLETED"}, {"request_id": 1}]',
    deep: '['.repeat(200_000),
  }
  const storedUrl = await serve((request, response) => {
    const name = request.url?.slice(6) ?? ''
    if (name === 'moved') response.writeHead(302, { location: '/hook/elsewhere' }).end()
    else if (name === 'error') response.writeHead(500).end()
    else if (name === 'endless') response.write(Buffer.alloc(17 * 1024 * 1024, ' '))
    else response.end(answers[name as keyof typeof answers])
  })
  const reported: string[] = []
  for (const name of ['text', 'object', 'item', 'deep', 'moved', 'error', 'endless']) {
    const { code, stdout, stderr } = await webhook(`check-receiver ${url} --stored-url ${storedUrl}/${name}`)
    reported.push(`${name}: exit ${code} ${stdout}${stderr.split('\n').slice(1).join('\n')}`)
  }
  expect(reported.join('').replaceAll(/:\d{4,5}: /g, ':PORT: ')).toMatchInlineSnapshot(`
    "text: exit 7 Error: --stored-url: the answer is not JSON
    It has to be the events that the receiver stored, in the order stored: [{"request_id": "…", "status": "…"}]
    object: exit 7 Error: --stored-url: the answer is not a list
    It has to be the events that the receiver stored, in the order stored: [{"request_id": "…", "status": "…"}]
    item: exit 7 Error: --stored-url: the answer has no text "request_id" and "status" in item 2
    It has to be the events that the receiver stored, in the order stored: [{"request_id": "…", "status": "…"}]
    deep: exit 7 Error: --stored-url: the answer is not JSON
    It has to be the events that the receiver stored, in the order stored: [{"request_id": "…", "status": "…"}]
    moved: exit 7 Error: --stored-url: answered 302; expected 200 and a JSON list
    Redirects are not followed: give the URL that answers.
    error: exit 7 Error: --stored-url: answered 500; expected 200 and a JSON list
    Check the URL.
    endless: exit 7 Error: --stored-url: 127.0.0.1:PORT: the answer is larger than 16777216 bytes, the limit
    Check the URL, and that the receiver is running.
    "
  `)
  expect(await webhook(`check-receiver ${url} --stored-url http://127.0.0.1:1/`)).toMatchInlineSnapshot(`
    $ refcheck webhook check-receiver http://127.0.0.1:PORT_1/hook --stored-url http://127.0.0.1:1/
    2> Sending made-up events to http://127.0.0.1:PORT_1/hook, signed with the webhook secret; the requests they name do not exist.
    2> Error: --stored-url: 127.0.0.1:1: connection refused
    2> Check the URL, and that the receiver is running.
    exit 7
  `)
  expect(sent).toEqual([])
})

test('check-receiver with an invalid --stored-file or --restart exits with 2, and sends nothing', async () => {
  const here = await webhookSession()
  const { url, file } = await startStoringReceiver(here)
  const { url: unusedUrl } = await addressOfReceiver('TypeScript', 'none')
  here.write('wrong.csv', 'request_id,status\n')
  const lines = [
    `${url} --stored-file missing.ndjson`,
    `${url} --stored-file .`,
    `${url} --stored-file wrong.csv`,
    `${url} --stored-file ${file} --stored-url ${url}`,
    `${url} --stored-url http://example.com/stored`,
    `${url} --restart ./restart.sh`,
    `${unusedUrl} --stored-file ${file} --restart no-such-program`,
    `${unusedUrl} --stored-file ${file} --restart false`,
  ]
  const exported = { REFCHECK_WEBHOOK_SECRET: secret, PATH: process.env['PATH'] ?? '' }
  const withOpenQuote = [
    'webhook',
    'check-receiver',
    url,
    '--stored-file',
    file,
    '--restart',
    "'node receiver.js",
  ]
  const all = [...lines.map((line) => `webhook check-receiver ${line}`), withOpenQuote]
  expect(await here.all(all, { exported, clock: systemClock })).toMatchInlineSnapshot(`
    $ refcheck webhook check-receiver http://127.0.0.1:PORT_1/hook --stored-file missing.ndjson
    2> Sending made-up events to http://127.0.0.1:PORT_1/hook, signed with the webhook secret; the requests they name do not exist.
    2> Error: --stored-file: file not found: missing.ndjson
    2> Check the path. Where the receiver makes the file with its first event, make it empty before.
    exit 2

    $ refcheck webhook check-receiver http://127.0.0.1:PORT_1/hook --stored-file .
    2> Sending made-up events to http://127.0.0.1:PORT_1/hook, signed with the webhook secret; the requests they name do not exist.
    2> Error: --stored-file: . is not a file
    2> Give the file to which the receiver adds a line for each event that it stores.
    exit 2

    $ refcheck webhook check-receiver http://127.0.0.1:PORT_1/hook --stored-file wrong.csv
    2> Sending made-up events to http://127.0.0.1:PORT_1/hook, signed with the webhook secret; the requests they name do not exist.
    2> Error: --stored-file: line 1 is not a JSON object with a text "request_id" and "status"
    2> Each line has to be one stored event: {"request_id": "…", "status": "…"}
    exit 2

    $ refcheck webhook check-receiver http://127.0.0.1:PORT_1/hook --stored-file HOME/stored.ndjson --stored-url http://127.0.0.1:PORT_1/hook
    2> Error: --stored-file and --stored-url cannot be combined
    2> Show its help with: refcheck webhook check-receiver --help
    exit 2

    $ refcheck webhook check-receiver http://127.0.0.1:PORT_1/hook --stored-url http://example.com/stored
    2> Error: --stored-url: refused http://example.com: https is required
    2> http is allowed for this machine only (127.0.0.1, ::1, localhost).
    exit 2

    $ refcheck webhook check-receiver http://127.0.0.1:PORT_1/hook --restart ./restart.sh
    2> Error: --restart requires --stored-url or --stored-file
    2> What a crash loses is seen only in what was stored.
    exit 2

    $ refcheck webhook check-receiver http://127.0.0.1:PORT_2/hook --stored-file HOME/stored.ndjson --restart no-such-program
    2> Sending made-up events to http://127.0.0.1:PORT_2/hook, signed with the webhook secret; the requests they name do not exist.
    2> Error: --restart: program not found: "no-such-program"
    2> Give a program and its arguments: --restart 'program argument'
    exit 2

    $ refcheck webhook check-receiver http://127.0.0.1:PORT_2/hook --stored-file HOME/stored.ndjson --restart false
    2> Sending made-up events to http://127.0.0.1:PORT_2/hook, signed with the webhook secret; the requests they name do not exist.
    2> Error: --restart: the command ended with exit code 1
    2> Its output is discarded. Run it yourself to see what it prints.
    exit 2

    $ refcheck webhook check-receiver http://127.0.0.1:PORT_1/hook --stored-file HOME/stored.ndjson --restart ''node receiver.js'
    2> Error: --restart: a quote is not closed
    2> Close it, or put \\ before it.
    exit 2
  `)
})

test('check-receiver --restart starts the receiver, kills it, starts it again, and ends it', async () => {
  const { type } = await webhookSession()
  const { url, storedFile, commandLine } = await addressOfReceiver('TypeScript', 'acknowledges-first')
  writeFileSync(storedFile, '')
  const restart = commandLine.map((word) => `"${word}"`).join(' ')
  const exported = { REFCHECK_WEBHOOK_SECRET: secret, WEBHOOK_SECRET: secret }
  const line = `webhook check-receiver ${url} --only stored-first --only stored-restart --json`
  const options = { exported, clock: systemClock }
  const { code, json } = await type(`${line} --stored-file ${storedFile} --restart '${restart}'`, options)
  expect(code).toBe(10)
  const { cases } = json() as { cases: { id: string; findings: { text: string }[] }[] }
  expect(cases.map(({ id, findings: [first] }) => [id, first?.text.split(/[:\d]/)[0]])).toEqual([
    ['stored-first', ''],
    ['stored-restart', 'missing after the receiver was killed and started again'],
  ])
  expect(cases[0]?.findings[0]?.text).toMatch(
    /^\d+ of 10 events were acknowledged before they were stored: they were not listed then, and \d+ ms later they were$/,
  )
  await expect(fetch(url)).rejects.toThrow('fetch failed')
})

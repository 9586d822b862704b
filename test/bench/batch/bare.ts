/*
 * The minimal loop that orders a file of people with as many flushes as the protocol has. Before each row is POSTed on
 * a new connection, one line is flushed to a journal (with the outcome of the previous row) and one line to a log.
 * Run: node bare.ts FILE, with the service in the environment. Prints the duration of the loop in ms.
 */
import { closeSync, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs'

import { Client } from 'undici'

const [file = ''] = process.argv.slice(2)
const {
  REFCHECK_BASE_URL: url = '',
  REFCHECK_API_KEY: apiKey = '',
  REFCHECK_USER_EMAIL: userEmail = '',
} = process.env
const headers = {
  'content-type': 'application/json',
  'x-service-api-key': apiKey,
  'x-service-user-email': userEmail,
}

const [, ...lines] = readFileSync(file, 'utf8').trimEnd().split('\n')
const client = new Client(url)
const journal = openSync(`${file}.journal`, 'a')
const log = openSync(`${file}.log`, 'a')
let outcome = ''

function append(descriptor: number, line: string): void {
  writeSync(descriptor, `${line}\n`)
  fdatasyncSync(descriptor)
}

const startedAt = performance.now()
for (const line of lines) {
  const [first_name, last_name, email, phone] = line.split(',')
  const order = { package_id: 102, recipient: { first_name, last_name, email, phone } }
  const body = JSON.stringify(order)
  append(journal, `${outcome},${email}`)
  append(log, `${email}`)
  const answer = await client.request({ path: '/v1/requests', method: 'POST', headers, body, reset: true })
  const { data } = (await answer.body.json()) as { data?: { request_id?: string } }
  if (answer.statusCode !== 201) throw new Error(`answered ${answer.statusCode}`)
  outcome = `${data?.request_id}`
}
append(journal, outcome)
const durationMs = performance.now() - startedAt
closeSync(journal)
closeSync(log)
await client.close()
writeSync(1, String(durationMs))

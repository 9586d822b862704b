/*
 * The least that ordering a file of people can be, with as many flushes as the protocol has: before a row is POSTed on a
 * connection of its own, one line is flushed to a journal (with the outcome of the row before it) and one to a log.
 * node bare.ts FILE, the service in the environment; prints the milliseconds of the loop alone.
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

function append(to: number, line: string): void {
  writeSync(to, `${line}\n`)
  fdatasyncSync(to)
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
const took = performance.now() - startedAt
closeSync(journal)
closeSync(log)
await client.close()
writeSync(1, String(took))

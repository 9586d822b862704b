/*
 * Serves KEYS sandboxes at one address, each with its own key and path. Prints their URLs and keys when they listen,
 * and for each line on stdin the number of orders that each sandbox has accepted so far.
 * Run by worker.ts: node test/bench/fleet/child.ts KEYS QUOTA
 */
import { createInterface } from 'node:readline'

import { createSandbox } from '../../../src/sandbox/control/embedded.ts'
import { listen } from '../../../src/server/listen.ts'
import { systemClock } from '../../../src/host/clock.ts'

const [, , count = '1', quota = ''] = process.argv
const windows = quota.split(',').map((window) => {
  const [calls = 0, seconds = 0] = window.split('/').map(Number)
  return { calls, seconds }
})
const sandboxes = Array.from({ length: Number(count) }, (_, index) =>
  createSandbox({ clock: systemClock, seed: `key ${index}`, quota: windows }),
)
const orderCounts = sandboxes.map(() => 0)
for (const [key, sandbox] of sandboxes.entries()) {
  sandbox.log.subscribe((entry) => {
    if (entry.kind === 'call' && entry.status === 201) orderCounts[key] = (orderCounts[key] ?? 0) + 1
  })
}
const { url } = await listen((request, connection) => {
  const [, key = '', path = ''] = /^https?:\/\/[^/]+\/(\d+)(\/.*)$/.exec(request.url) ?? []
  const sandbox = sandboxes[Number(key)]
  return sandbox === undefined
    ? new Response(null, { status: 404 })
    : sandbox.fetch(new Request(new URL(path, request.url), request), connection)
})
const keys = sandboxes.map(({ credentials }, key) => ({
  baseUrl: `${url}/${key}`,
  apiKey: credentials.apiKey,
  userEmail: credentials.userEmail,
}))
process.stdout.write(`${JSON.stringify(keys)}\n`)
for await (const _ of createInterface(process.stdin)) process.stdout.write(`${JSON.stringify(orderCounts)}\n`)
process.exit()

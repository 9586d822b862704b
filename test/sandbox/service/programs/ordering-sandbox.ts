/*
 * Runs a sandbox with its data in the file that the first argument names, and creates requests in it until the
 * process is killed. The id of a request is printed after the answer of its create.
 */
import { writeSync } from 'node:fs'

import { systemClock } from '../../../../src/host/clock.ts'
import { systemRandom } from '../../../../src/host/random.ts'
import { openJournal } from '../../../../src/sandbox/service/journal.ts'
import { createSandbox } from '../../../../src/sandbox/control/embedded.ts'

const [, , path = ''] = process.argv
const sandbox = createSandbox({
  clock: systemClock,
  journal: await openJournal(path, { clock: systemClock, random: systemRandom, pid: process.pid }),
  quota: [],
})
const { apiKey, userEmail } = sandbox.credentials
const body = JSON.stringify({
  package_id: 102,
  recipient: { first_name: 'Jane', last_name: 'Example', email: 'jane@example.com', phone: '+61400000001' },
})
for (;;) {
  const answer = await sandbox.fetch(
    new Request('http://127.0.0.1:1/v1/requests', {
      method: 'POST',
      headers: {
        'X-Service-API-Key': apiKey,
        'X-Service-User-Email': userEmail,
        'Content-Type': 'application/json',
      },
      body,
    }),
  )
  const { data } = (await answer.json()) as { data: { request_id: string } }
  writeSync(1, `${data.request_id}\n`)
}

import { expect, onTestFinished, test } from 'vitest'

import { systemClock } from '../../../src/host/clock.ts'
import { HttpClient } from '../../../src/http/client.ts'
import { connectToSandbox } from '../../../src/sandbox/control/client.ts'
import { listen } from '../../../src/server/listen.ts'

test('a snapshot of 40 MB, larger than any answer of the service, is read completely', async () => {
  const large = 'x'.repeat(40 * 1024 * 1024)
  const listener = await listen(() => Response.json({ large }))
  const http = new HttpClient({ clock: systemClock, env: {}, userAgent: 'test' })
  onTestFinished(async () => {
    await http.close()
    await listener.close()
  })
  const snapshot = (await connectToSandbox(http, listener.url, undefined).read('snapshot')) as {
    large: string
  }
  expect(snapshot.large.length).toBe(large.length)
})

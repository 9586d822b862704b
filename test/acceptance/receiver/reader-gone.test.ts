import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { eventBody, postDelivery, requestIds } from '../../harness/deliveries.ts'
import { startReceiverProcess } from '../../harness/receiver-process.ts'

test('a receiver whose output is no longer read reports this and ends; the events that it stored remain stored', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'refcheck-reader-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const secret = 'whsec-of-a-test'
  const env = { REFCHECK_WEBHOOK_SECRET: secret, REFCHECK_CONFIG_DIR: folder, REFCHECK_DATA_DIR: folder }
  const { child, url, stderr, ended } = await startReceiverProcess(['--json'], env, 'pipe')
  child.stdout?.destroy()
  expect(await postDelivery(url, secret, { body: eventBody(requestIds[0]) })).toBe(204)
  await ended
  expect(stderr().split('\n').slice(1)).toEqual([
    'Error: the program that read the output has ended; 1 new event recorded',
    'Nothing is lost. List them with: refcheck webhook events list',
    '',
  ])
  expect(child.exitCode).toBe(1)
})

import { expect } from 'vitest'

import { writePeopleFile } from './batch-file.ts'
import type { Session } from './session.ts'

/** Writes a file with an event for each request, as a receiver stores them. Returns its name. */
export function writeEvents({ sandbox, write }: Session): string {
  const lines = sandbox
    .requests()
    .map(({ request_id }) => JSON.stringify({ event: 'request.updated', request_id, status: 'IN_PROGRESS' }))
  return write('events.ndjson', `${lines.join('\n')}\n`)
}

/** Runs a batch of two rows, the second of which becomes `unknown`. Returns the batch's id. */
export async function createUnknownRow({ type, folder }: Session, tag = '+cut-after'): Promise<string> {
  writePeopleFile(folder, ['a1@example.com', `a2${tag}@example.com`])
  const outcome = await type('batch run people.csv --package 102 --yes --json')
  expect(outcome.code).toBe(8)
  return (outcome.json() as { batch_id: string }).batch_id
}

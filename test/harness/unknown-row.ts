import { expect } from 'vitest'

import { peopleFile } from './batch-file.ts'
import type { Session } from './session.ts'

/** Events of every request there is, as a receiver would have captured them. */
export function captured({ sandbox, write }: Session): string {
  const lines = sandbox
    .requests()
    .map(({ request_id }) => JSON.stringify({ event: 'request.updated', request_id, status: 'IN_PROGRESS' }))
  return write('events.ndjson', `${lines.join('\n')}\n`)
}

/** A batch of two whose second row may have been ordered; its id. */
export async function withUnknown({ type, folder }: Session, tag = '+cut-after'): Promise<string> {
  peopleFile(folder, ['a1@example.com', `a2${tag}@example.com`])
  const outcome = await type('batch run people.csv --package 102 --yes --json')
  expect(outcome.code).toBe(8)
  return (outcome.json() as { batch_id: string }).batch_id
}

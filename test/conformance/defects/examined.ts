import { systemClock } from '../../../src/host/clock.ts'
import { httpDeliver } from '../../../src/sandbox/service/deliver-http.ts'
import { lab } from '../lab.ts'
import { tight } from '../quotas.ts'
import type { Defect } from './defect.ts'

/** The cases of one topic: what a defect there may show in. */
const topicOf = (id: string): string => id.split('.')[0] ?? id

/** It waits for an answer that never comes, in real time. */
const slow = 'webhook.again-after-silence'

/** What a run of the suite says of a sandbox with the defect: the cases of its topic. */
export async function examined({ caughtBy, around, deliver, endings = false, also, tight: small }: Defect) {
  const visited = await lab({
    around,
    ...(deliver !== undefined && {
      deliver: deliver(httpDeliver(systemClock), () => visited.target.webhookSecret ?? ''),
    }),
    ...(small === true && { quota: tight }),
  })
  const { recipients: _endings, ...usual } = visited.target
  const topics = new Set([topicOf(caughtBy), also])
  return visited.run({
    target: endings ? visited.target : usual,
    only: ({ id }) => topics.has(topicOf(id)) && (id !== slow || id === caughtBy),
  })
}

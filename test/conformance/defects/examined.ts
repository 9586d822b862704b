import { systemClock } from '../../../src/host/clock.ts'
import { httpDeliver } from '../../../src/sandbox/service/delivery.ts'
import { lab } from '../lab.ts'
import { tight } from '../quotas.ts'
import type { Defect } from './defect.ts'

/** What a run of the suite says of a sandbox with the defect: of the case that has to notice. */
export async function examined({ caughtBy, around, deliver, endings = false, also, tight: small }: Defect) {
  const visited = await lab({
    around,
    ...(deliver !== undefined && {
      deliver: deliver(httpDeliver(systemClock), () => visited.target.webhookSecret ?? ''),
    }),
    ...(small === true && { quota: tight }),
  })
  const { recipients: _endings, ...usual } = visited.target
  return visited.run({
    target: endings ? visited.target : usual,
    only: ({ id }) => id === caughtBy || id === also,
  })
}

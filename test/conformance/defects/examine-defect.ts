import { systemClock } from '../../../src/host/clock.ts'
import { httpDeliver } from '../../../src/sandbox/service/delivery.ts'
import { createLab, isQuotaCase, selectCases } from '../lab.ts'
import { smallQuota } from '../quotas.ts'
import type { Defect } from './defect.ts'

/** Runs the case that must find a defect against a sandbox with that defect, and returns the report. */
export async function examineDefect(defect: Defect) {
  const { caughtBy, createHandler, createDeliver, needsEndings = false } = defect
  const service = await createLab({
    createHandler,
    ...(createDeliver !== undefined && {
      deliver: createDeliver(httpDeliver(systemClock), () => service.target.webhookSecret ?? ''),
    }),
    ...(isQuotaCase({ id: caughtBy }) && { quota: smallQuota }),
  })
  const { recipients: _endings, ...withoutEndings } = service.target
  return service.run({
    target: needsEndings ? service.target : withoutEndings,
    isSelected: selectCases(defect),
  })
}

import { accessDefects } from './defects-access.ts'
import { orderDefects } from './defects-orders.ts'
import { reportDefects, requestDefects } from './defects-requests.ts'
import { eventDefects, quotaDefects } from './defects-time.ts'
import { answerDefects, defectsOfReads, type Defect } from './defects.ts'

/**
 * All deliberate deviations of the second service (service.ts) from the API document. Each has to be found by a case of
 * the conformance suite.
 */
export const secondDefects: readonly Defect[] = [
  ...answerDefects,
  ...defectsOfReads,
  ...accessDefects,
  ...orderDefects,
  ...requestDefects,
  ...reportDefects,
  ...eventDefects,
  ...quotaDefects,
]

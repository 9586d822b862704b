import { accessDefects } from './defects-access.ts'
import { createDefects } from './defects-orders.ts'
import { reportDefects, requestDefects } from './defects-requests.ts'
import { eventDefects, quotaDefects } from './defects-time.ts'
import { answerDefects, readDefects, type Defect } from './defects.ts'

/**
 * All deliberate deviations of the second service (service.ts) from the API document. Each has to be found by a case of
 * the conformance suite.
 */
export const secondDefects: readonly Defect[] = [
  ...answerDefects,
  ...readDefects,
  ...accessDefects,
  ...createDefects,
  ...requestDefects,
  ...reportDefects,
  ...eventDefects,
  ...quotaDefects,
]

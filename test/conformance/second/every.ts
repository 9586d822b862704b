import { accessDefects } from './defects-access.ts'
import { createDefects } from './defects-orders.ts'
import { reportDefects, requestDefects } from './defects-requests.ts'
import { eventDefects, quotaDefects } from './defects-time.ts'
import { answerDefects, readDefects, type Defect } from './defects.ts'

/** All defects of the second service. */
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

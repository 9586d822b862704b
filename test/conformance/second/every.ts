import { accessSwitches } from './defects-access.ts'
import { createSwitches } from './defects-orders.ts'
import { reportSwitches, requestSwitches } from './defects-requests.ts'
import { eventSwitches, quotaSwitches } from './defects-time.ts'
import { answerSwitches, readSwitches, type Switch } from './defects.ts'

/** Every defect that can be switched on. */
export const switches: readonly Switch[] = [
  ...answerSwitches,
  ...readSwitches,
  ...accessSwitches,
  ...createSwitches,
  ...requestSwitches,
  ...reportSwitches,
  ...eventSwitches,
  ...quotaSwitches,
]

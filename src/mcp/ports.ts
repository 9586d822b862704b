import type { AddPlanServices } from '../usecases/approval/add-plan.ts'
import type { RunReading } from '../usecases/agent/ports.ts'
import type { Services } from '../usecases/services.ts'

/** What an agent's calls may reach. */
export interface AgentPorts {
  version: string
  run: RunReading
  /** Where `validate_file` and `plan_file` read; undefined: nowhere. */
  files: string | undefined
  /** Where reports are filed; undefined: nowhere. */
  reports: string | undefined
  showsPersonalData: boolean
  /** A text without the keys, secrets and tokens that are known here. */
  redact: (text: string) => string
  plans: () => Promise<Services['plans']>
  planning: () => Promise<AddPlanServices>
  /** Wall time in milliseconds. */
  now: () => number
  /** Random letters that no data can know. */
  mark: () => string
}

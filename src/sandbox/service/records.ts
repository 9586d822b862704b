/*
 * What the sandbox keeps, as plain data that goes to JSON and back unchanged. Names are the API's
 * own. Times are milliseconds since the epoch.
 */
import type { CheckInformation } from '../../contract/package-schema.ts'
import type { AdditionalInformation, Recipient } from '../../contract/request-body.ts'
import type { RequestStatus } from '../../contract/statuses.ts'

export type Role = 'owner' | 'admin' | 'support' | 'member'

/** "Permission products". */
export const products = ['bgc', 'exit', 'integration', 'pulse', 'reference'] as const
export type Product = (typeof products)[number]

export interface Organisation {
  id: string
  name: string
  /** One is used by each request; null: never runs out. */
  credits: number | null
  trial: 'none' | 'running' | 'expired'
  subscription: 'active' | 'inactive'
  /** "Each organisation has at most one outbound webhook configuration". */
  webhook_url: string | null
  webhook_secret: string
}

export interface ApiKey {
  key: string
  organisation_id: string
  revoked: boolean
}

export interface Team {
  id: string
  organisation_id: string
  name: string
  active: boolean
}

export interface UserRecord {
  id: string
  organisation_id: string
  first_name: string
  last_name: string
  email: string
  role: Role
  /** Numeric levels, as in "Permission levels"; told to clients of members only. */
  permissions: Partial<Record<Product, number>>
  team_ids: string[]
  job_title: string
  active: boolean
}

export interface PackageRecord {
  id: number
  organisation_id: string
  name: string
  status: 'ACTIVE' | 'INACTIVE' | 'DISABLED'
  /** "availability depends on the user's role"; null: for every role. */
  roles: Role[] | null
  reference_survey: { id: number; name: string | null; min_referees: number } | null
  background_checks: { check_name: string | null; partner_name: string | null }[]
  additional_information: CheckInformation[]
}

export interface RefereeRecord {
  referee_id: string
  referee_name: string | null
  referee_email: string | null
  status: 'IN_PROGRESS' | 'COMPLETED' | 'CANCELLED'
  /** When its report became available. */
  report_at: number | null
}

export interface CheckRecord {
  /** Decided from the start, told once the check has been created. */
  id: string
  created: boolean
  type: 'reference' | 'background'
  status: 'RECEIVED' | 'IN_PROGRESS' | 'COMPLETED' | 'CANCELLED' | 'ERROR'
  check_name: string | null
  partner_name: string | null
  report_at: number | null
  referees: RefereeRecord[]
}

/** One thing that happens to a request, `at` milliseconds of progress after its creation. */
export type Step =
  | {
      at: number
      does: 'check'
      check: number
      status: CheckRecord['status']
      /** Under way without having been created yet: it has no id to tell. */
      uncreated?: true
    }
  | { at: number; does: 'nominate'; check: number; referee: RefereeRecord }
  | { at: number; does: 'referee'; check: number; referee: number; status: RefereeRecord['status'] }
  | { at: number; does: 'report'; check: number; referee: number | null }
  | { at: number; does: 'fail'; reason: string; checks: 'kept' | 'dropped' }

export interface RequestRecord {
  /** Counts from 1; what this request's random draws are named by. */
  number: number
  request_id: string
  organisation_id: string
  package_id: number
  created_at: number
  requester_email: string
  recipient: Recipient
  additional_information: AdditionalInformation[]
  /** What its recipient's e-mail, or an injection, asked for. */
  scenarios: string[]
  status: RequestStatus
  error_reason: string | null
  checks: CheckRecord[]
  /** What will become of it, in order; those before `applied` have happened. */
  steps: Step[]
  applied: number
}

/** One event to be delivered to the organisation's webhook. */
export interface DeliveryRecord {
  id: string
  organisation_id: string
  request_id: string
  status: RequestStatus
  body: string
  state: 'waiting' | 'delivered' | 'given_up'
  /** Attempts made. */
  attempts: number
  /** How many of the first attempts carry a signature that does not fit. */
  forged: number
  /** When the next attempt is due, or the last one was made. */
  at: number
  /** What the last attempt met: an HTTP status, or why there was none. */
  outcome: string | null
}

/** On whose behalf an authenticated call is made. */
export interface Caller {
  organisation: Organisation
  user: UserRecord
}

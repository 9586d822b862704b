/*
 * Types of what the API sends and accepts, field by field as its document names them. Later versions of the service
 * may add keys, which are passed on but have no types. The types are written out, so that importing them does not
 * need zod; since the client returns values that src/contract has checked, the compiler ensures that they agree.
 */

/** The documented values; a newer service may send others. */
export type Known<T extends string> = T | (string & Record<never, never>)

/** Section "Request status" of the API document. */
export type RequestStatus = 'RECEIVED' | 'IN_PROGRESS' | 'PARTIAL' | 'COMPLETED' | 'ERROR' | 'CANCELLED'

/** Section "Check status" of the API document. */
export type CheckStatus = 'RECEIVED' | 'IN_PROGRESS' | 'COMPLETED' | 'CANCELLED' | 'ERROR'

/** Section "Referee status" of the API document. */
export type RefereeStatus = 'IN_PROGRESS' | 'COMPLETED' | 'CANCELLED'

/** Section "Package status" of the API document. */
export type PackageStatus = 'ACTIVE' | 'INACTIVE' | 'DISABLED'

/** One referee of a reference check. */
export interface Referee {
  referee_id: string | number
  referee_name: string | null
  referee_email: string | null
  status: Known<RefereeStatus>
  /** Signed URL, valid for an hour; null until the report is ready. */
  report_pdf_url: string | null
}

export interface Check {
  /** A UUID; null until the check has been created. */
  id: string | null
  type: Known<'background' | 'reference'>
  status: Known<CheckStatus>
  partner_name?: string | null | undefined
  check_name?: string | null | undefined
  /** Signed URL, valid for an hour; null until the report is ready. */
  report_pdf_url?: string | null | undefined
  references?: Referee[] | undefined
}

export interface Recipient {
  first_name: string
  last_name: string
  email: string
  /** Phone number in E.164: `+` and at most 15 digits. */
  phone: string
}

/** A request with its checks and referees, as GET /v1/requests/{request_id} sends it. */
export interface CheckRequest {
  /** A UUID. */
  request_id: string
  package_id: number
  status: Known<RequestStatus>
  /** Time of creation (ISO 8601). */
  created_at: string
  requester: { email: string }
  recipient: Recipient
  checks: Check[]
}

/** Body of POST /v1/requests. */
export interface NewRequest {
  package_id: number
  recipient: Recipient
  /** Additional information; each code at most once. */
  additional_information?: { code: string; fields: Record<string, unknown> }[] | undefined
}

export interface CreatedRequest {
  /** A UUID. */
  request_id: string
  status: Known<RequestStatus>
}

export interface Package {
  id: number
  name: string
  /** Status; only ACTIVE packages can be ordered. */
  status: Known<PackageStatus>
  details: {
    reference_survey: { id: number; name: string | null; min_referees: number } | null
    background_checks: { check_name: string | null; partner_name: string | null }[]
  }
}

export interface FieldDefinition {
  type: Known<'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object'>
  required: boolean
  description: string
}

export interface PackageSchema {
  id: number
  fields: {
    recipient: Record<'first_name' | 'last_name' | 'email' | 'phone', { type: string; required: boolean }>
    additional_information: {
      display_name: string
      code: string
      fields: Record<string, FieldDefinition>
    }[]
  }
}

export interface User {
  /** A UUID. */
  id: string
  first_name: string
  last_name: string
  email: string
  /** The role, such as owner, support or member. */
  role: string
  /** Present only if the role is member. */
  permissions?: string[] | undefined
  teams: { id: string; name: string }[]
  job_title: string
}

/** Body of a webhook delivery. */
export interface WebhookEvent {
  event: Known<'request.updated'>
  request_id: string
  status: Known<RequestStatus>
  /** Present only if the status is ERROR. */
  error_reason?: string | undefined
}

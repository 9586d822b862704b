/**
 * The responses of a sandbox that is started with the seed "refcheck" at 2026-03-02T09:00:00Z.
 * test/contract/openapi.test.ts compares all of them with such a sandbox, except the tokens of report URLs.
 */

const recipient = {
  first_name: 'Jane',
  last_name: 'Example',
  email: 'jane@example.com',
  phone: '+61400000001',
} as const
const hiring = { id: '852fefb0-1cec-4e07-90a8-afc6e569a39f', name: 'Hiring' } as const
const compliance = { id: '51dd83b2-fa4b-419c-a032-b8e56c87de95', name: 'Compliance' } as const
const policeCheck = { check_name: 'National police check', partner_name: 'Verity Checks' } as const
const creditCheck = { check_name: 'Credit history check', partner_name: 'Ledgerline Bureau' } as const
const requestId = 'f072f4ac-0165-4115-a843-7cdca9464ae0'
const referenceId = '9e425ff2-0ab9-4414-856c-b9ac965fe766'
const requiredText = { type: 'string', required: true } as const

const reportUrl = (path: string) => `http://127.0.0.1:4280/v1/reports/${path}?t=***`

const referee = (referee_id: string, referee_name: string, referee_email: string) => ({
  referee_id,
  referee_name,
  referee_email,
  status: 'COMPLETED',
  report_pdf_url: reportUrl(`${referenceId}/referees/${referee_id}`),
})

const background = (id: string, partner_name: string, check_name: string) => ({
  id,
  type: 'background',
  status: 'COMPLETED',
  partner_name,
  check_name,
  report_pdf_url: reportUrl(id),
})

/** Examples of request bodies and of `data` in responses, by the name of the schema. */
export const bodyExamples = {
  RequestBody: {
    package_id: 101,
    recipient,
    additional_information: [
      { code: 'reference', fields: { position_title: 'Gardener' } },
      {
        code: 'ncc_acic',
        fields: {
          date_of_birth: '1990-04-30',
          is_volunteer: false,
          previous_names: [],
          residential_address: { street: '1 Example Street' },
        },
      },
      { code: 'icrc', fields: { years_of_history: 5, annual_income: 61000.5 } },
    ],
  },
  Ping: { status: 'ok' },
  PackageList: {
    packages: [
      {
        id: 101,
        name: 'Standard employment screen',
        status: 'ACTIVE',
        details: {
          reference_survey: { id: 11, name: 'Professional reference survey', min_referees: 2 },
          background_checks: [policeCheck, creditCheck],
        },
      },
    ],
  },
  // This package has no field of the type "array", because linters mistake such a field for a schema.
  PackageSchema: {
    id: 105,
    fields: {
      recipient: {
        first_name: requiredText,
        last_name: requiredText,
        email: requiredText,
        phone: requiredText,
      },
      additional_information: [],
    },
  },
  CreatedRequest: { request_id: requestId, status: 'RECEIVED' },
  Request: {
    request_id: requestId,
    package_id: 101,
    status: 'COMPLETED',
    created_at: '2026-03-02T09:00:00.000Z',
    requester: { email: 'olive.owner@example.com' },
    recipient,
    checks: [
      {
        id: referenceId,
        type: 'reference',
        status: 'COMPLETED',
        references: [
          referee('124870', 'Remy Referee', 'remy.referee.1@example.com'),
          referee('124871', 'Morgan Referee', 'morgan.referee.2@example.com'),
        ],
      },
      background('446e00c3-747f-420e-855e-6845973c8b95', policeCheck.partner_name, policeCheck.check_name),
      background('a27ad1f7-521b-4346-a78b-3df3f3d6a5b7', creditCheck.partner_name, creditCheck.check_name),
    ],
  },
  UserList: {
    users: [
      {
        id: '3d9126d0-129e-461c-906d-6bcbf9930a73',
        first_name: 'Olive',
        last_name: 'Owner',
        email: 'olive.owner@example.com',
        role: 'owner',
        teams: [hiring, compliance],
        job_title: 'Head of People',
      },
      {
        id: 'e3e49d83-2f88-4b19-b915-5bc8e9056695',
        first_name: 'Ada',
        last_name: 'Admin',
        email: 'ada.admin@example.com',
        role: 'admin',
        teams: [compliance],
        job_title: 'Screening Manager',
      },
      {
        id: 'a9a6c19a-1665-48dd-8dc8-da36a3126d0f',
        first_name: 'Sam',
        last_name: 'Support',
        email: 'sam.support@example.com',
        role: 'support',
        teams: [],
        job_title: '',
      },
      {
        id: 'a974c5d9-b06c-4a01-bdcf-afcb16d153a7',
        first_name: 'Max',
        last_name: 'Member',
        email: 'max.member@example.com',
        role: 'member',
        permissions: ['bgc.requestor', 'exit.none', 'pulse.analyst', 'reference.requestor'],
        teams: [hiring],
        job_title: 'Recruiter',
      },
      {
        id: '503f626f-b80f-4a10-9efe-56cc82130714',
        first_name: 'Cora',
        last_name: 'Contributor',
        email: 'cora.contributor@example.com',
        role: 'member',
        permissions: [
          'bgc.contributor',
          'exit.administrator',
          'integration.analyst',
          'pulse.none',
          'reference.contributor',
        ],
        teams: [compliance],
        job_title: 'Referee Coordinator',
      },
    ],
  },
  WebhookEvent: { event: 'request.updated', request_id: requestId, status: 'COMPLETED' },
} as const

/** Example messages of failures, by the name of the response. */
export const failureExamples = {
  BadRequest: 'recipient.email: is required',
  Unauthenticated: 'missing authentication headers',
  Forbidden: 'user is not an active member of the organisation',
  NotFound: 'resource not found',
  ServerError: 'internal server error',
  Unavailable: 'resource not found',
  Throttled: 'rate limit exceeded',
}

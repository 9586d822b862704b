/*
 * What a sandbox with the seed "refcheck" gives that is started at 2026-03-02T09:00:00Z. test/contract/openapi.test.ts
 * compares every line with one; tokens of report URLs are left out.
 */

/** Bodies, and `data` of answers, by the name of their schema. */
export const bodyExamples = {
  RequestBody: {
    package_id: 101,
    recipient: {
      first_name: 'Jane',
      last_name: 'Example',
      email: 'jane@example.com',
      phone: '+61400000001',
    },
    additional_information: [
      {
        code: 'reference',
        fields: {
          position_title: 'Gardener',
        },
      },
      {
        code: 'ncc_acic',
        fields: {
          date_of_birth: '1990-04-30',
          is_volunteer: false,
          previous_names: [],
          residential_address: {
            street: '1 Example Street',
          },
        },
      },
      {
        code: 'icrc',
        fields: {
          years_of_history: 5,
          annual_income: 61000.5,
        },
      },
    ],
  },
  Ping: {
    status: 'ok',
  },
  PackageList: {
    packages: [
      {
        id: 101,
        name: 'Standard employment screen',
        status: 'ACTIVE',
        details: {
          reference_survey: {
            id: 11,
            name: 'Professional reference survey',
            min_referees: 2,
          },
          background_checks: [
            {
              check_name: 'National police check',
              partner_name: 'Verity Checks',
            },
            {
              check_name: 'Credit history check',
              partner_name: 'Ledgerline Bureau',
            },
          ],
        },
      },
    ],
  },
  // One without a field of the type "array": linters take such a field for a schema.
  PackageSchema: {
    id: 105,
    fields: {
      recipient: {
        first_name: {
          type: 'string',
          required: true,
        },
        last_name: {
          type: 'string',
          required: true,
        },
        email: {
          type: 'string',
          required: true,
        },
        phone: {
          type: 'string',
          required: true,
        },
      },
      additional_information: [],
    },
  },
  CreatedRequest: {
    request_id: 'f072f4ac-0165-4115-a843-7cdca9464ae0',
    status: 'RECEIVED',
  },
  Request: {
    request_id: 'f072f4ac-0165-4115-a843-7cdca9464ae0',
    package_id: 101,
    status: 'COMPLETED',
    created_at: '2026-03-02T09:00:00.000Z',
    requester: {
      email: 'olive.owner@example.com',
    },
    recipient: {
      first_name: 'Jane',
      last_name: 'Example',
      email: 'jane@example.com',
      phone: '+61400000001',
    },
    checks: [
      {
        id: '9e425ff2-0ab9-4414-856c-b9ac965fe766',
        type: 'reference',
        status: 'COMPLETED',
        references: [
          {
            referee_id: '124870',
            referee_name: 'Remy Referee',
            referee_email: 'remy.referee.1@example.com',
            status: 'COMPLETED',
            report_pdf_url:
              'http://127.0.0.1:4280/v1/reports/9e425ff2-0ab9-4414-856c-b9ac965fe766/referees/124870?t=***',
          },
          {
            referee_id: '124871',
            referee_name: 'Morgan Referee',
            referee_email: 'morgan.referee.2@example.com',
            status: 'COMPLETED',
            report_pdf_url:
              'http://127.0.0.1:4280/v1/reports/9e425ff2-0ab9-4414-856c-b9ac965fe766/referees/124871?t=***',
          },
        ],
      },
      {
        id: '446e00c3-747f-420e-855e-6845973c8b95',
        type: 'background',
        status: 'COMPLETED',
        partner_name: 'Verity Checks',
        check_name: 'National police check',
        report_pdf_url: 'http://127.0.0.1:4280/v1/reports/446e00c3-747f-420e-855e-6845973c8b95?t=***',
      },
      {
        id: 'a27ad1f7-521b-4346-a78b-3df3f3d6a5b7',
        type: 'background',
        status: 'COMPLETED',
        partner_name: 'Ledgerline Bureau',
        check_name: 'Credit history check',
        report_pdf_url: 'http://127.0.0.1:4280/v1/reports/a27ad1f7-521b-4346-a78b-3df3f3d6a5b7?t=***',
      },
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
        teams: [
          {
            id: '852fefb0-1cec-4e07-90a8-afc6e569a39f',
            name: 'Hiring',
          },
          {
            id: '51dd83b2-fa4b-419c-a032-b8e56c87de95',
            name: 'Compliance',
          },
        ],
        job_title: 'Head of People',
      },
      {
        id: 'e3e49d83-2f88-4b19-b915-5bc8e9056695',
        first_name: 'Ada',
        last_name: 'Admin',
        email: 'ada.admin@example.com',
        role: 'admin',
        teams: [
          {
            id: '51dd83b2-fa4b-419c-a032-b8e56c87de95',
            name: 'Compliance',
          },
        ],
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
        teams: [
          {
            id: '852fefb0-1cec-4e07-90a8-afc6e569a39f',
            name: 'Hiring',
          },
        ],
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
        teams: [
          {
            id: '51dd83b2-fa4b-419c-a032-b8e56c87de95',
            name: 'Compliance',
          },
        ],
        job_title: 'Referee Coordinator',
      },
    ],
  },
  WebhookEvent: {
    event: 'request.updated',
    request_id: 'f072f4ac-0165-4115-a843-7cdca9464ae0',
    status: 'COMPLETED',
  },
} as const

/** Messages of failures, by the name of their response. */
export const failureExamples = {
  BadRequest: 'recipient.email: is required',
  Unauthenticated: 'missing authentication headers',
  Forbidden: 'user is not an active member of the organisation',
  NotFound: 'resource not found',
  ServerError: 'internal server error',
  Unavailable: 'resource not found',
  Throttled: 'rate limit exceeded',
}

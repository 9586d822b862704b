import { reasons, type Rule, testedRule, rulesUnder, untestableRule } from './rule.ts'

const credentialCases = ['authentication.required', 'authentication.invalid-key']
const commonErrorCases = [
  'answers.known-statuses',
  ...credentialCases,
  'authentication.unknown-user',
  'throttle.every-endpoint',
]

export const endpointRules: Rule[] = [
  ...rulesUnder('Endpoints', [
    testedRule(
      'Every endpoint below requires the two authentication headers unless stated.',
      'authentication.required',
      'reports.token-elsewhere',
    ),
    untestableRule('Shared error responses are in Errors.', reasons.introduction),
  ]),
  ...rulesUnder('GET /v1/ping', [
    testedRule(
      'Authentication: none. No headers, no body. Exempt from throttling.',
      'ping.no-authentication',
      'throttle.ping-exempt',
    ),
    testedRule('Response 200: data = `{status: string}`, status_message "ok", message "".', 'ping.answer'),
    untestableRule(
      'Confirms only that the API itself is available; does not check downstream services or partners.',
      'The API does not show which services and partners it depends on.',
    ),
    untestableRule('A non-200 response may mean the API is unavailable.', reasons.ruleForClients),
  ]),
  ...rulesUnder('GET /v1/packages', [
    testedRule(
      "Returns packages available to the organisation and the user (availability depends on the user's role).",
      'packages.by-role',
      'authentication.other-organisation',
    ),
    testedRule(
      'status | string | No | Filter. Allowed: active, inactive, disabled. An unsupported value gives 400.',
      'packages.filter-status',
      'packages.filter-status-unsupported',
    ),
    testedRule('id | integer | No | Filter by package ID.', 'packages.filter-id'),
    testedRule(
      'Response 200: data = `{packages: [Package]}`. No pagination; the full list is returned. INACTIVE and DISABLED packages are returned for inventory only.',
      'packages.list',
      'packages.no-pagination',
      'create.package-inactive',
      'create.package-disabled',
    ),
    testedRule(
      'Errors: 401, 403 (user email does not match an active user of the organisation), 429, 5xx.',
      ...commonErrorCases,
    ),
  ]),
  ...rulesUnder('GET /v1/packages/{id}/schema', [
    testedRule('id | integer | Package ID.', 'schema.readable'),
    testedRule('Response 200: data = Package schema.', 'schema.readable', 'schema.shape'),
    testedRule(
      'Errors: 401; 403 (user not an active member, or no access to the package); 404 (package not found or not available to the organisation and user); 429; 5xx.',
      'schema.unknown-package',
      'packages.by-role',
      'authentication.other-organisation',
      ...commonErrorCases,
    ),
    testedRule('The schema may be cached by clients.', 'schema.stable'),
    testedRule(
      'If creating a request returns 400 for an unknown or missing field, fetch the schema again before retrying.',
      'create.information-required',
      'create.unknown-fields',
    ),
  ]),
  ...rulesUnder('POST /v1/requests', [
    testedRule('Creates a request; processed asynchronously.', 'create.accepted', 'create.readable'),
    testedRule(
      'Headers: the two authentication headers and `Content-Type: application/json`, all required.',
      'create.content-type',
      'authentication.required',
    ),
    testedRule(
      'package_id | integer | Yes | ID of an ACTIVE package.',
      'create.wrong-types',
      'create.missing-fields',
      'create.package-inactive',
      // It sends values of package_id that are no positive integers.
      'create.package-forms',
    ),
    testedRule(
      'recipient | object | Yes | Details required by the package.',
      'create.missing-fields',
      'create.wrong-types',
    ),
    testedRule('recipient.first_name | string | Yes |', 'create.missing-fields', 'create.wrong-types'),
    testedRule('recipient.last_name | string | Yes |', 'create.missing-fields', 'create.wrong-types'),
    testedRule(
      'recipient.email | string | Yes | Must be a valid email address.',
      'create.email',
      'create.missing-fields',
      'create.valid-emails',
    ),
    testedRule(
      'recipient.phone | string | Yes | E.164 format with country calling code; at most 15 digits.',
      'create.phone',
      'create.missing-fields',
      'schema.recipient-required',
    ),
    // `create.information-form` tests the structure: an array of entries, each with a code and an object of fields.
    testedRule(
      'additional_information | array | No | Check-specific information as defined by the package schema.',
      'create.information-optional',
      'create.information-form',
    ),
    testedRule(
      'additional_information[].code | string | Yes | Check code from the package schema. Each code may appear only once.',
      'create.duplicate-codes',
      'create.information-form',
      'create.information-of-no-check',
    ),
    testedRule(
      'additional_information[].fields | object | Yes | Field values per the package schema.',
      'create.information-form',
      'create.information-types',
      // It sends a value for every field of the schema, also for optional ones.
      'create.information-whole',
    ),
    testedRule(
      'Response 201: data = `{request_id: string (UUID), status: string}` where status is RECEIVED. A 201 confirms acceptance only; it does not mean checks have started or finished.',
      'create.accepted',
    ),
    testedRule(
      '400 | Invalid JSON; missing or invalid fields; invalid phone; duplicate additional_information codes; missing schema-required fields; package not ACTIVE. The message names the offending field (shape: `<field path>: <reason>`).',
      'create.invalid-json',
      'create.missing-fields',
      'create.phone',
      'create.duplicate-codes',
      'create.information-required',
      'create.package-inactive',
      'create.information-entry-left-out',
    ),
    testedRule('401 | Authentication headers missing or invalid.', ...credentialCases),
    testedRule(
      '403 | User not an active member of the organisation; or the organisation has insufficient credits, an expired trial, or an inactive subscription.',
      'standing.credits',
      'standing.trial',
      'standing.subscription',
      'authentication.unknown-user',
    ),
    testedRule(
      '404 | Package not found, disabled, or not available to the organisation and user.',
      'create.package-unknown',
      'create.package-disabled',
      'packages.order-by-role',
    ),
    testedRule(
      '429 | Throttled; Retry-After header present.',
      'answers.retry-after',
      'throttle.every-endpoint',
    ),
    testedRule(
      '5xx | Internal error or processing failure. The outcome is unknown.',
      'standing.internal-error',
    ),
    testedRule(
      'Idempotency: no idempotency header is supported, so retrying can create a duplicate request.',
      'create.no-idempotency',
    ),
    untestableRule(
      'After a 5xx, if a request_id was obtained, read the request before creating another.',
      reasons.ruleForClients,
    ),
  ]),
  ...rulesUnder('GET /v1/requests/{request_id}', [
    testedRule(
      'request_id | string (UUID) | From request creation.',
      'create.readable',
      'requests.malformed-id',
    ),
    testedRule(
      'Response 200: data = Request (with checks and referees). Read-only and idempotent. Each read produces fresh signed report URLs.',
      'requests.shape',
      'requests.unchanging',
      'requests.fresh-urls',
    ),
    testedRule(
      'Errors: 401; 403 (user not an active member); 404 (request not found or not available to the organisation); 429; 5xx.',
      'requests.unknown',
      'authentication.other-organisation',
      ...commonErrorCases,
    ),
  ]),
  // `reports.kinds` requests reports that only a check of the other kind has, such as a referee report of a background
  // check, and expects 404.
  ...rulesUnder('GET /v1/reports/{check_id}', [
    testedRule(
      'Downloads the completed PDF report of a background check.',
      'reports.by-headers',
      'reports.kinds',
    ),
    testedRule(
      'check_id | path | string (UUID) | Yes | `checks[].id` of the request.',
      'reports.kinds',
      'reports.url',
    ),
    testedRule(
      't | query | string | No | Signed token from `report_pdf_url`; valid 1 hour; replaces the authentication headers.',
      'reports.by-token',
      'reports.token-life',
    ),
    testedRule(
      'X-Service-API-Key, X-Service-User-Email | headers | string | Required only when `t` is omitted |',
      'authentication.required',
      'reports.by-token',
    ),
    testedRule('Accept | header | string | No | application/pdf', 'reports.by-headers'),
    testedRule(
      'Response 200: Content-Type application/pdf, binary PDF body.',
      'reports.by-headers',
      'reports.by-token',
      'reports.every-report',
    ),
    testedRule(
      'Errors: 401 (headers missing or invalid, or `t` invalid or expired); 403 (user not an active member of the organisation of the API key); 404 (report not found, not yet available, or not associated with the organisation); 429 (applies to requests using headers); 5xx.',
      'reports.unknown',
      'reports.not-yet',
      'reports.of-another-organisation',
      'reports.token-invalid',
      'reports.token-life',
      'throttle.token-exempt',
      ...commonErrorCases,
      'reports.refused-headers',
    ),
  ]),
  ...rulesUnder('GET /v1/reports/{check_id}/referees/{referee_id}', [
    testedRule(
      'Downloads the completed PDF report of one referee of a reference check.',
      'reports.by-headers',
      'reports.by-token',
    ),
    testedRule(
      'Same parameters, headers, response and errors as the background report endpoint, plus path parameter `referee_id` (integer or string; `checks[].references[].referee_id`).',
      'reports.by-headers',
      'reports.token-invalid',
      'reports.kinds',
      'reports.unknown',
    ),
    testedRule(
      'The token `t` is specific to the referee report it was issued for.',
      'reports.token-of-another',
    ),
  ]),
  ...rulesUnder('GET /v1/users', [
    testedRule('No query parameters.', 'users.no-parameters'),
    testedRule(
      'Response 200: data = `{users: [User]}`. The full list of active users of the organisation identified by the API key is returned; no pagination. Inactive users and inactive teams are excluded.',
      'users.list',
      'users.no-parameters',
      'users.active-teams',
      'standing.inactive-user',
      'authentication.other-organisation',
      'users.inactive',
    ),
    testedRule('Errors: 401, 403, 429, 5xx.', ...commonErrorCases),
    testedRule('Purpose: identify emails usable as the user email header.', 'authentication.second-user'),
  ]),
]

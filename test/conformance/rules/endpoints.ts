import { because, type Rule, seen, under, unseen } from './rule.ts'

const auth401 = ['authentication.required', 'authentication.invalid-key']
const matrix = [
  'answers.known-statuses',
  ...auth401,
  'authentication.unknown-user',
  'throttle.every-endpoint',
]

export const endpointRules: Rule[] = [
  ...under('Endpoints', [
    seen(
      'Every endpoint below requires the two authentication headers unless stated.',
      'authentication.required',
      'reports.token-elsewhere',
    ),
    unseen('Shared error responses are in Errors.', because.introduction),
  ]),
  ...under('GET /v1/ping', [
    seen(
      'Authentication: none. No headers, no body. Exempt from throttling.',
      'ping.no-authentication',
      'throttle.ping-exempt',
    ),
    seen('Response 200: data = `{status: string}`, status_message "ok", message "".', 'ping.answer'),
    unseen(
      'Confirms only that the API itself is available; does not check downstream services or partners.',
      'Which services and partners stand behind the API is not seen from outside.',
    ),
    unseen('A non-200 response may mean the API is unavailable.', because.client),
  ]),
  ...under('GET /v1/packages', [
    seen(
      "Returns packages available to the organisation and the user (availability depends on the user's role).",
      'packages.by-role',
      'authentication.other-organisation',
    ),
    seen(
      'status | string | No | Filter. Allowed: active, inactive, disabled. An unsupported value gives 400.',
      'packages.filter-status',
      'packages.filter-status-unsupported',
    ),
    seen('id | integer | No | Filter by package ID.', 'packages.filter-id'),
    seen(
      'Response 200: data = `{packages: [Package]}`. No pagination; the full list is returned. INACTIVE and DISABLED packages are returned for inventory only.',
      'packages.list',
      'packages.no-pagination',
      'create.package-inactive',
      'create.package-disabled',
    ),
    seen(
      'Errors: 401, 403 (user email does not match an active user of the organisation), 429, 5xx.',
      ...matrix,
    ),
  ]),
  ...under('GET /v1/packages/{id}/schema', [
    seen('id | integer | Package ID.', 'schema.readable'),
    seen('Response 200: data = Package schema.', 'schema.readable', 'schema.shape'),
    seen(
      'Errors: 401; 403 (user not an active member, or no access to the package); 404 (package not found or not available to the organisation and user); 429; 5xx.',
      'schema.unknown-package',
      'packages.by-role',
      'authentication.other-organisation',
      ...matrix,
    ),
    seen('The schema may be cached by clients.', 'schema.stable'),
    seen(
      'If creating a request returns 400 for an unknown or missing field, fetch the schema again before retrying.',
      'create.information-required',
      'create.unknown-fields',
    ),
  ]),
  ...under('POST /v1/requests', [
    seen('Creates a request; processed asynchronously.', 'create.accepted', 'create.readable'),
    seen(
      'Headers: the two authentication headers and `Content-Type: application/json`, all required.',
      'create.content-type',
      'authentication.required',
    ),
    seen(
      'package_id | integer | Yes | ID of an ACTIVE package.',
      'create.wrong-types',
      'create.missing-fields',
      'create.package-inactive',
      'create.package-forms',
    ),
    seen(
      'recipient | object | Yes | Details required by the package.',
      'create.missing-fields',
      'create.wrong-types',
    ),
    seen('recipient.first_name | string | Yes |', 'create.missing-fields', 'create.wrong-types'),
    seen('recipient.last_name | string | Yes |', 'create.missing-fields', 'create.wrong-types'),
    seen(
      'recipient.email | string | Yes | Must be a valid email address.',
      'create.email',
      'create.missing-fields',
      'create.valid-emails',
    ),
    seen(
      'recipient.phone | string | Yes | E.164 format with country calling code; at most 15 digits.',
      'create.phone',
      'create.missing-fields',
      'schema.recipient-required',
    ),
    seen(
      'additional_information | array | No | Check-specific information as defined by the package schema.',
      'create.information-optional',
      'create.information-form',
    ),
    seen(
      'additional_information[].code | string | Yes | Check code from the package schema. Each code may appear only once.',
      'create.duplicate-codes',
      'create.information-form',
      'create.information-of-no-check',
    ),
    seen(
      'additional_information[].fields | object | Yes | Field values per the package schema.',
      'create.information-form',
      'create.information-types',
      'create.information-whole',
    ),
    seen(
      'Response 201: data = `{request_id: string (UUID), status: string}` where status is RECEIVED. A 201 confirms acceptance only; it does not mean checks have started or finished.',
      'create.accepted',
    ),
    seen(
      '400 | Invalid JSON; missing or invalid fields; invalid phone; duplicate additional_information codes; missing schema-required fields; package not ACTIVE. The message names the offending field (shape: `<field path>: <reason>`).',
      'create.invalid-json',
      'create.missing-fields',
      'create.phone',
      'create.duplicate-codes',
      'create.information-required',
      'create.package-inactive',
      'create.information-entry-left-out',
    ),
    seen('401 | Authentication headers missing or invalid.', ...auth401),
    seen(
      '403 | User not an active member of the organisation; or the organisation has insufficient credits, an expired trial, or an inactive subscription.',
      'standing.credits',
      'standing.trial',
      'standing.subscription',
      'authentication.unknown-user',
    ),
    seen(
      '404 | Package not found, disabled, or not available to the organisation and user.',
      'create.package-unknown',
      'create.package-disabled',
      'packages.order-by-role',
    ),
    seen('429 | Throttled; Retry-After header present.', 'answers.retry-after', 'throttle.every-endpoint'),
    seen('5xx | Internal error or processing failure. The outcome is unknown.', 'standing.internal-error'),
    seen(
      'Idempotency: no idempotency header is supported, so retrying can create a duplicate request.',
      'create.no-idempotency',
    ),
    unseen(
      'After a 5xx, if a request_id was obtained, read the request before creating another.',
      because.client,
    ),
  ]),
  ...under('GET /v1/requests/{request_id}', [
    seen('request_id | string (UUID) | From request creation.', 'create.readable', 'requests.malformed-id'),
    seen(
      'Response 200: data = Request (with checks and referees). Read-only and idempotent. Each read produces fresh signed report URLs.',
      'requests.shape',
      'requests.unchanging',
      'requests.fresh-urls',
    ),
    seen(
      'Errors: 401; 403 (user not an active member); 404 (request not found or not available to the organisation); 429; 5xx.',
      'requests.unknown',
      'authentication.other-organisation',
      ...matrix,
    ),
  ]),
  ...under('GET /v1/reports/{check_id}', [
    seen('Downloads the completed PDF report of a background check.', 'reports.by-headers', 'reports.kinds'),
    seen(
      'check_id | path | string (UUID) | Yes | `checks[].id` of the request.',
      'reports.kinds',
      'reports.url',
    ),
    seen(
      't | query | string | No | Signed token from `report_pdf_url`; valid 1 hour; replaces the authentication headers.',
      'reports.by-token',
      'reports.token-life',
    ),
    seen(
      'X-Service-API-Key, X-Service-User-Email | headers | string | Required only when `t` is omitted |',
      'authentication.required',
      'reports.by-token',
    ),
    seen('Accept | header | string | No | application/pdf', 'reports.by-headers'),
    seen(
      'Response 200: Content-Type application/pdf, binary PDF body.',
      'reports.by-headers',
      'reports.by-token',
      'reports.every-report',
    ),
    seen(
      'Errors: 401 (headers missing or invalid, or `t` invalid or expired); 403 (user not an active member of the organisation of the API key); 404 (report not found, not yet available, or not associated with the organisation); 429 (applies to requests using headers); 5xx.',
      'reports.unknown',
      'reports.not-yet',
      'reports.of-another-organisation',
      'reports.token-invalid',
      'reports.token-life',
      'throttle.token-exempt',
      ...matrix,
      'reports.refused-headers',
    ),
  ]),
  ...under('GET /v1/reports/{check_id}/referees/{referee_id}', [
    seen(
      'Downloads the completed PDF report of one referee of a reference check.',
      'reports.by-headers',
      'reports.by-token',
    ),
    seen(
      'Same parameters, headers, response and errors as the background report endpoint, plus path parameter `referee_id` (integer or string; `checks[].references[].referee_id`).',
      'reports.by-headers',
      'reports.token-invalid',
      'reports.kinds',
      'reports.unknown',
    ),
    seen('The token `t` is specific to the referee report it was issued for.', 'reports.token-of-another'),
  ]),
  ...under('GET /v1/users', [
    seen('No query parameters.', 'users.no-parameters'),
    seen(
      'Response 200: data = `{users: [User]}`. The full list of active users of the organisation identified by the API key is returned; no pagination. Inactive users and inactive teams are excluded.',
      'users.list',
      'users.no-parameters',
      'users.active-teams',
      'standing.inactive-user',
      'authentication.other-organisation',
      'users.inactive',
    ),
    seen('Errors: 401, 403, 429, 5xx.', ...matrix),
    seen('Purpose: identify emails usable as the user email header.', 'authentication.second-user'),
  ]),
]

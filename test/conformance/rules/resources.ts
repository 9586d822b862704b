import { reasons, type Rule, testedRule, rulesUnder, untestableRule } from './rule.ts'

const packageList = 'packages.list'
const schemaShape = 'schema.shape'
const requestShape = 'requests.shape'
const userList = 'users.list'
const permissionLevels = 'users.permission-levels'

export const resourceRules: Rule[] = [
  ...rulesUnder('Background and Reference Check Service API, v1', [
    untestableRule(
      'This document covers the whole service: purpose, resources, states, endpoints, authentication, webhook events, errors, limits and versioning.',
      reasons.introduction,
    ),
    untestableRule('It is the only document.', reasons.introduction),
  ]),
  ...rulesUnder('What the service does', [
    untestableRule(
      'The service lets a client system order reference checks and background checks for a recipient, follow their progress, download finished PDF reports, and receive webhook notifications.',
      reasons.introduction,
    ),
    testedRule(
      'Clients list the packages available to an organisation and user.',
      packageList,
      'packages.by-role',
    ),
    testedRule(
      'A package defines which reference and/or background checks a request includes.',
      'requests.checks-of-package',
    ),
    testedRule(
      'Clients read the input schema of a package to learn the recipient fields and check-specific fields.',
      'schema.readable',
    ),
    testedRule('Clients create a request for a recipient from a package.', 'create.accepted'),
    testedRule(
      'Creation is accepted immediately and processed asynchronously.',
      'create.accepted',
      'statuses.received',
    ),
    testedRule(
      'Clients read a request to see its overall status, the status of each check, and signed report URLs.',
      requestShape,
      'reports.url',
    ),
    testedRule(
      'Clients download PDF reports for completed background checks and for individual referees.',
      'reports.by-headers',
    ),
    testedRule('Clients list the active users of the organisation.', userList),
    testedRule(
      'The service sends one webhook event type when the overall status of a request changes.',
      'webhook.request',
      'webhook.every-change',
    ),
    testedRule('A health check endpoint exists and needs no authentication.', 'ping.no-authentication'),
    testedRule('Base address | {base_url}', 'ping.answer'),
    testedRule('Version prefix | /v1/', 'versioning.prefix'),
    testedRule('Transport | HTTPS only; plain HTTP requests are rejected', 'versioning.transport'),
    testedRule('Content type | application/json (except PDF downloads)', 'answers.content-type'),
    testedRule('Response body | Always the standard envelope (see Errors)', 'answers.envelope'),
    testedRule(
      'Cache headers | Cache-Control: no-store, Pragma: no-cache, Expires: 0 on every response',
      'answers.cache-headers',
    ),
  ]),
  ...rulesUnder('Resources and their fields', [
    testedRule('All JSON responses are wrapped as `{data, status_message, message}`.', 'answers.envelope'),
  ]),
  ...rulesUnder('Package', [
    testedRule(
      'id | integer | Unique package ID. Used as `package_id` when creating a request and as `{id}` in the schema path.',
      'packages.unique-ids',
      'schema.readable',
      'create.accepted',
    ),
    testedRule('name | string | Package name.', packageList),
    testedRule(
      'status | string | ACTIVE, INACTIVE or DISABLED. Only ACTIVE packages can be used to create requests.',
      packageList,
      'create.package-inactive',
      'create.package-disabled',
    ),
    testedRule(
      'details.reference_survey | object or null | null when the package has no reference check.',
      packageList,
      'requests.checks-of-package',
    ),
    testedRule('details.reference_survey.id | integer | Reference survey ID.', packageList),
    testedRule('details.reference_survey.name | string or null | Survey name.', packageList),
    testedRule(
      'details.reference_survey.min_referees | integer | Minimum number of references required.',
      packageList,
    ),
    testedRule('details.background_checks | array | Empty array when the package has none.', packageList),
    testedRule(
      'details.background_checks[].check_name | string or null | Name of the background check.',
      packageList,
      'requests.checks-of-package',
    ),
    testedRule(
      'details.background_checks[].partner_name | string or null | Name of the marketplace partner providing the check.',
      packageList,
      'requests.checks-of-package',
    ),
  ]),
  ...rulesUnder('Package schema', [
    testedRule('id | integer | Package ID.', schemaShape, 'schema.readable'),
    testedRule(
      'fields.recipient | object | Keys first_name, last_name, email, phone; each is `{type: string, required: boolean}`. Phone uses E.164.',
      schemaShape,
    ),
    testedRule(
      'fields.additional_information | array | One entry per check that needs extra information. Checks needing none are omitted. Empty array when nothing is needed.',
      'schema.needing-none-omitted',
      schemaShape,
      'schema.no-more-than-checks',
    ),
    testedRule(
      'fields.additional_information[].display_name | string | Display name of the check.',
      schemaShape,
    ),
    testedRule(
      'fields.additional_information[].code | string | Check code used in request creation (for example reference, ncc_acic, icrc).',
      schemaShape,
      'create.information-form',
    ),
    testedRule(
      'fields.additional_information[].fields | object | Map of field name to definition.',
      schemaShape,
    ),
    testedRule(
      '...fields.<field_name>.type | string | One of string, integer, number, boolean, array, object.',
      schemaShape,
      'create.information-types',
    ),
    testedRule(
      '...fields.<field_name>.required | boolean | Whether the field must be supplied.',
      schemaShape,
      'create.information-required',
      'create.information-null',
    ),
    testedRule('...fields.<field_name>.description | string | Help text.', schemaShape),
  ]),
  ...rulesUnder('Request', [
    testedRule('request_id | string (UUID) | Identifier.', requestShape, 'requests.unchanging'),
    testedRule('package_id | integer | Package used.', requestShape, 'create.readable'),
    testedRule(
      'status | string | RECEIVED, IN_PROGRESS, PARTIAL, COMPLETED, ERROR, CANCELLED.',
      requestShape,
    ),
    testedRule(
      'created_at | string (ISO 8601 timestamp) | When the request was accepted.',
      requestShape,
      'requests.unchanging',
      'requests.created-at',
    ),
    testedRule(
      'requester.email | string | Email of the service user the request is attributed to.',
      'authentication.attributed',
      requestShape,
    ),
    testedRule(
      'recipient | object | first_name, last_name, email, phone (strings).',
      requestShape,
      'create.readable',
      'create.kept-as-sent',
    ),
    testedRule('checks | array | Reference and background checks of the request.', requestShape),
  ]),
  ...rulesUnder('Check (element of checks)', [
    testedRule(
      'id | string (UUID) or null | null until the check has been created.',
      'requests.check-ids',
      requestShape,
    ),
    testedRule('type | string | `reference` or `background`.', requestShape),
    testedRule('status | string | RECEIVED, IN_PROGRESS, COMPLETED, CANCELLED or ERROR.', requestShape),
    testedRule(
      'partner_name | string or null | Background checks only. Provider name.',
      'requests.background-fields',
      requestShape,
    ),
    testedRule(
      'check_name | string or null | Background checks only. Display name.',
      'requests.background-fields',
      requestShape,
    ),
    testedRule(
      'report_pdf_url | string or null | Background checks only. Signed URL; null until the report is available. Token valid 1 hour.',
      'statuses.reports-of-the-finished',
      'requests.background-fields',
      'reports.token-life',
    ),
    testedRule(
      'references | array | Reference checks only. Empty array when no referees are nominated.',
      'requests.references-of-reference-checks',
      requestShape,
    ),
  ]),
  ...rulesUnder('Referee (element of references)', [
    testedRule('referee_id | string | Identifier.', requestShape),
    testedRule('referee_name | string or null | Name.', requestShape),
    testedRule('referee_email | string or null | Email.', requestShape),
    testedRule('status | string | IN_PROGRESS, COMPLETED or CANCELLED.', requestShape),
    testedRule(
      'report_pdf_url | string or null | Signed URL for the referee report; null until available. Token valid 1 hour.',
      requestShape,
      'statuses.reports-of-the-finished',
      'reports.token-life',
    ),
  ]),
  ...rulesUnder('User', [
    testedRule('id | string (UUID) | Identifier.', 'users.unique-ids', userList),
    testedRule('first_name | string |', userList),
    testedRule('last_name | string |', userList),
    testedRule('email | string | Primary verified email.', userList, 'authentication.second-user'),
    testedRule('role | string | Such as owner, support, member.', userList),
    testedRule(
      'permissions | array of strings | Present only when role is member; omitted for other roles. Format `<product>.<level>`.',
      'users.permissions-of-members',
      'users.permission-products',
      permissionLevels,
    ),
    testedRule(
      'teams | array | Each entry has `id` (UUID string) and `name` (string). Only active teams.',
      'users.active-teams',
      userList,
    ),
    testedRule('job_title | string | Empty string when not set.', 'users.job-title'),
    testedRule(
      'Permission products: reference (references), exit (exits), bgc (background checks), pulse (pulses), integration (integrations).',
      'users.permission-products',
    ),
    testedRule('0 | none', permissionLevels),
    testedRule('2 | administrator', permissionLevels),
    testedRule('3 | requestor', permissionLevels),
    testedRule('4 | contributor', permissionLevels),
    testedRule('5 | analyst', permissionLevels),
    testedRule('Level 1 (integration user) is never returned.', permissionLevels),
    testedRule('Permissions are returned in alphabetical order.', 'users.permissions-sorted'),
  ]),
  ...rulesUnder('Webhook configuration', [
    untestableRule(
      'Each organisation has at most one outbound webhook configuration: an HTTPS endpoint URL plus a secret used for signing.',
      reasons.outside,
    ),
    untestableRule(
      'Fields of the webhook configuration record beyond the URL and the existence of a secret: not shown.',
      reasons.open,
    ),
  ]),
]

import { because, type Rule, seen, under, unseen } from './rule.ts'

const ofList = 'packages.list'
const ofSchema = 'schema.shape'
const ofRequest = 'requests.shape'
const ofUser = 'users.list'
const ofPermission = 'users.permission-levels'

export const resourceRules: Rule[] = [
  ...under('Background and Reference Check Service API, v1', [
    unseen(
      'This document covers the whole service: purpose, resources, states, endpoints, authentication, webhook events, errors, limits and versioning.',
      because.introduction,
    ),
    unseen('It is the only document.', because.introduction),
  ]),
  ...under('What the service does', [
    unseen(
      'The service lets a client system order reference checks and background checks for a recipient, follow their progress, download finished PDF reports, and receive webhook notifications.',
      because.introduction,
    ),
    seen('Clients list the packages available to an organisation and user.', ofList, 'packages.by-role'),
    seen(
      'A package defines which reference and/or background checks a request includes.',
      'requests.checks-of-package',
    ),
    seen(
      'Clients read the input schema of a package to learn the recipient fields and check-specific fields.',
      'schema.readable',
    ),
    seen('Clients create a request for a recipient from a package.', 'create.accepted'),
    seen(
      'Creation is accepted immediately and processed asynchronously.',
      'create.accepted',
      'statuses.received',
    ),
    seen(
      'Clients read a request to see its overall status, the status of each check, and signed report URLs.',
      ofRequest,
      'reports.url',
    ),
    seen(
      'Clients download PDF reports for completed background checks and for individual referees.',
      'reports.by-headers',
    ),
    seen('Clients list the active users of the organisation.', ofUser),
    seen(
      'The service sends one webhook event type when the overall status of a request changes.',
      'webhook.request',
      'webhook.every-change',
    ),
    seen('A health check endpoint exists and needs no authentication.', 'ping.no-authentication'),
    seen('Base address | {base_url}', 'ping.answer'),
    seen('Version prefix | /v1/', 'versioning.prefix'),
    seen('Transport | HTTPS only; plain HTTP requests are rejected', 'versioning.transport'),
    seen('Content type | application/json (except PDF downloads)', 'answers.content-type'),
    seen('Response body | Always the standard envelope (see Errors)', 'answers.envelope'),
    seen(
      'Cache headers | Cache-Control: no-store, Pragma: no-cache, Expires: 0 on every response',
      'answers.cache-headers',
    ),
  ]),
  ...under('Resources and their fields', [
    seen('All JSON responses are wrapped as `{data, status_message, message}`.', 'answers.envelope'),
  ]),
  ...under('Package', [
    seen(
      'id | integer | Unique package ID. Used as `package_id` when creating a request and as `{id}` in the schema path.',
      'packages.unique-ids',
      'schema.readable',
      'create.accepted',
    ),
    seen('name | string | Package name.', ofList),
    seen(
      'status | string | ACTIVE, INACTIVE or DISABLED. Only ACTIVE packages can be used to create requests.',
      ofList,
      'create.package-inactive',
      'create.package-disabled',
    ),
    seen(
      'details.reference_survey | object or null | null when the package has no reference check.',
      ofList,
      'requests.checks-of-package',
    ),
    seen('details.reference_survey.id | integer | Reference survey ID.', ofList),
    seen('details.reference_survey.name | string or null | Survey name.', ofList),
    seen('details.reference_survey.min_referees | integer | Minimum number of references required.', ofList),
    seen('details.background_checks | array | Empty array when the package has none.', ofList),
    seen(
      'details.background_checks[].check_name | string or null | Name of the background check.',
      ofList,
      'requests.checks-of-package',
    ),
    seen(
      'details.background_checks[].partner_name | string or null | Name of the marketplace partner providing the check.',
      ofList,
      'requests.checks-of-package',
    ),
  ]),
  ...under('Package schema', [
    seen('id | integer | Package ID.', ofSchema, 'schema.readable'),
    seen(
      'fields.recipient | object | Keys first_name, last_name, email, phone; each is `{type: string, required: boolean}`. Phone uses E.164.',
      ofSchema,
    ),
    seen(
      'fields.additional_information | array | One entry per check that needs extra information. Checks needing none are omitted. Empty array when nothing is needed.',
      'schema.needing-none-omitted',
      ofSchema,
      'schema.no-more-than-checks',
    ),
    seen('fields.additional_information[].display_name | string | Display name of the check.', ofSchema),
    seen(
      'fields.additional_information[].code | string | Check code used in request creation (for example reference, ncc_acic, icrc).',
      ofSchema,
      'create.information-form',
    ),
    seen('fields.additional_information[].fields | object | Map of field name to definition.', ofSchema),
    seen(
      '...fields.<field_name>.type | string | One of string, integer, number, boolean, array, object.',
      ofSchema,
      'create.information-types',
    ),
    seen(
      '...fields.<field_name>.required | boolean | Whether the field must be supplied.',
      ofSchema,
      'create.information-required',
      'create.information-null',
    ),
    seen('...fields.<field_name>.description | string | Help text.', ofSchema),
  ]),
  ...under('Request', [
    seen('request_id | string (UUID) | Identifier.', ofRequest, 'requests.unchanging'),
    seen('package_id | integer | Package used.', ofRequest, 'create.readable'),
    seen('status | string | RECEIVED, IN_PROGRESS, PARTIAL, COMPLETED, ERROR, CANCELLED.', ofRequest),
    seen(
      'created_at | string (ISO 8601 timestamp) | When the request was accepted.',
      ofRequest,
      'requests.unchanging',
      'requests.created-at',
    ),
    seen(
      'requester.email | string | Email of the service user the request is attributed to.',
      'authentication.attributed',
      ofRequest,
    ),
    seen(
      'recipient | object | first_name, last_name, email, phone (strings).',
      ofRequest,
      'create.readable',
      'create.kept-as-sent',
    ),
    seen('checks | array | Reference and background checks of the request.', ofRequest),
  ]),
  ...under('Check (element of checks)', [
    seen(
      'id | string (UUID) or null | null until the check has been created.',
      'requests.check-ids',
      ofRequest,
    ),
    seen('type | string | `reference` or `background`.', ofRequest),
    seen('status | string | RECEIVED, IN_PROGRESS, COMPLETED, CANCELLED or ERROR.', ofRequest),
    seen(
      'partner_name | string or null | Background checks only. Provider name.',
      'requests.background-fields',
      ofRequest,
    ),
    seen(
      'check_name | string or null | Background checks only. Display name.',
      'requests.background-fields',
      ofRequest,
    ),
    seen(
      'report_pdf_url | string or null | Background checks only. Signed URL; null until the report is available. Token valid 1 hour.',
      'statuses.reports-of-the-finished',
      'requests.background-fields',
      'reports.token-life',
    ),
    seen(
      'references | array | Reference checks only. Empty array when no referees are nominated.',
      'requests.references-of-reference-checks',
      ofRequest,
    ),
  ]),
  ...under('Referee (element of references)', [
    seen('referee_id | string | Identifier.', ofRequest),
    seen('referee_name | string or null | Name.', ofRequest),
    seen('referee_email | string or null | Email.', ofRequest),
    seen('status | string | IN_PROGRESS, COMPLETED or CANCELLED.', ofRequest),
    seen(
      'report_pdf_url | string or null | Signed URL for the referee report; null until available. Token valid 1 hour.',
      ofRequest,
      'statuses.reports-of-the-finished',
      'reports.token-life',
    ),
  ]),
  ...under('User', [
    seen('id | string (UUID) | Identifier.', 'users.unique-ids', ofUser),
    seen('first_name | string |', ofUser),
    seen('last_name | string |', ofUser),
    seen('email | string | Primary verified email.', ofUser, 'authentication.second-user'),
    seen('role | string | Such as owner, support, member.', ofUser),
    seen(
      'permissions | array of strings | Present only when role is member; omitted for other roles. Format `<product>.<level>`.',
      'users.permissions-of-members',
      'users.permission-products',
      ofPermission,
    ),
    seen(
      'teams | array | Each entry has `id` (UUID string) and `name` (string). Only active teams.',
      'users.active-teams',
      ofUser,
    ),
    seen('job_title | string | Empty string when not set.', 'users.job-title'),
    seen(
      'Permission products: reference (references), exit (exits), bgc (background checks), pulse (pulses), integration (integrations).',
      'users.permission-products',
    ),
    seen('0 | none', ofPermission),
    seen('2 | administrator', ofPermission),
    seen('3 | requestor', ofPermission),
    seen('4 | contributor', ofPermission),
    seen('5 | analyst', ofPermission),
    seen('Level 1 (integration user) is never returned.', ofPermission),
    seen('Permissions are returned in alphabetical order.', 'users.permissions-sorted'),
  ]),
  ...under('Webhook configuration', [
    unseen(
      'Each organisation has at most one outbound webhook configuration: an HTTPS endpoint URL plus a secret used for signing.',
      because.outside,
    ),
    unseen(
      'Fields of the webhook configuration record beyond the URL and the existence of a secret: not shown.',
      because.open,
    ),
  ]),
]

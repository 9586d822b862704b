import { because, type Rule, seen, under, unseen } from './rule.ts'

export const stateRules: Rule[] = [
  ...under('Request status', [
    seen(
      'RECEIVED | Initial status on creation. Accepted; checks not yet started.',
      'statuses.received',
      'statuses.transitions',
      'create.accepted',
    ),
    seen('IN_PROGRESS | At least one check is in progress and none has completed.', 'statuses.in-progress'),
    seen(
      'PARTIAL | At least one check has completed while others are still in progress.',
      'statuses.partial',
    ),
    seen(
      'COMPLETED | Terminal. All checks finished and at least one completed successfully.',
      'statuses.completed',
      'statuses.terminal',
    ),
    seen(
      'ERROR | Terminal. The request could not be processed and no checks were created.',
      'statuses.error',
      'statuses.terminal',
    ),
    seen(
      'CANCELLED | Terminal. All checks finished and none reached COMPLETED (for example expired, declined, deleted or stopped).',
      'statuses.cancelled',
      'statuses.terminal',
    ),
    seen(
      '(creation) | POST /v1/requests accepted | Valid body | RECEIVED | Response 201 returns status RECEIVED.',
      'create.accepted',
    ),
    seen(
      'IN_PROGRESS | Progress of checks | Per the meaning of each status above | PARTIAL | `request.updated` event sent.',
      'statuses.partial',
      'webhook.every-change',
    ),
    seen(
      'IN_PROGRESS | Progress of checks | Per the meaning above | COMPLETED | `request.updated` event sent.',
      'statuses.completed',
      'webhook.every-change',
    ),
    seen(
      'IN_PROGRESS | Processing failure | | ERROR | `request.updated` event sent with `error_reason`.',
      'statuses.error',
      'webhook.every-change',
      'webhook.error-reason',
    ),
    seen(
      'IN_PROGRESS | Progress of checks | Per the meaning above | CANCELLED | `request.updated` event sent.',
      'statuses.cancelled',
      'webhook.every-change',
    ),
    seen('Terminal statuses (COMPLETED, ERROR, CANCELLED) never transition further.', 'statuses.terminal'),
    seen(
      'Every change of the overall request status triggers one `request.updated` event.',
      'webhook.every-change',
    ),
    seen(
      'A check changing status without changing the overall request status triggers no event.',
      'webhook.only-changes',
    ),
    seen('Transitions from RECEIVED and from PARTIAL: not shown.', 'statuses.transitions'),
  ]),
  ...under('Check status', [
    seen('Values: RECEIVED, IN_PROGRESS, COMPLETED, CANCELLED, ERROR.', 'requests.shape'),
    unseen('Transitions: not shown.', because.open),
  ]),
  ...under('Referee status', [
    seen('Values: IN_PROGRESS, COMPLETED, CANCELLED.', 'requests.shape'),
    unseen('Transitions: not shown.', because.open),
  ]),
  ...under('Package status', [
    seen('Values: ACTIVE, INACTIVE, DISABLED.', 'packages.list'),
    unseen('Transitions and the precise meaning of INACTIVE versus DISABLED: not shown.', because.open),
    unseen(
      'Package schema versions: a new required field creates a new package version with a new `id`;',
      'Nobody can add a field to a package over the API.',
    ),
    seen('the schema of an existing package id stays stable.', 'schema.stable'),
  ]),
]

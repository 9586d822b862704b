import { reasons, type Rule, testedRule, rulesUnder, untestableRule } from './rule.ts'

export const stateRules: Rule[] = [
  ...rulesUnder('Request status', [
    testedRule(
      'RECEIVED | Initial status on creation. Accepted; checks not yet started.',
      'statuses.received',
      'statuses.transitions',
      'create.accepted',
    ),
    testedRule(
      'IN_PROGRESS | At least one check is in progress and none has completed.',
      'statuses.in-progress',
    ),
    testedRule(
      'PARTIAL | At least one check has completed while others are still in progress.',
      'statuses.partial',
    ),
    testedRule(
      'COMPLETED | Terminal. All checks finished and at least one completed successfully.',
      'statuses.completed',
      'statuses.terminal',
    ),
    testedRule(
      'ERROR | Terminal. The request could not be processed and no checks were created.',
      'statuses.error',
      'statuses.terminal',
    ),
    testedRule(
      'CANCELLED | Terminal. All checks finished and none reached COMPLETED (for example expired, declined, deleted or stopped).',
      'statuses.cancelled',
      'statuses.terminal',
    ),
    testedRule(
      '(creation) | POST /v1/requests accepted | Valid body | RECEIVED | Response 201 returns status RECEIVED.',
      'create.accepted',
    ),
    testedRule(
      'IN_PROGRESS | Progress of checks | Per the meaning of each status above | PARTIAL | `request.updated` event sent.',
      'statuses.partial',
      'webhook.every-change',
    ),
    testedRule(
      'IN_PROGRESS | Progress of checks | Per the meaning above | COMPLETED | `request.updated` event sent.',
      'statuses.completed',
      'webhook.every-change',
    ),
    testedRule(
      'IN_PROGRESS | Processing failure | | ERROR | `request.updated` event sent with `error_reason`.',
      'statuses.error',
      'webhook.every-change',
      'webhook.error-reason',
    ),
    testedRule(
      'IN_PROGRESS | Progress of checks | Per the meaning above | CANCELLED | `request.updated` event sent.',
      'statuses.cancelled',
      'webhook.every-change',
    ),
    testedRule(
      'Terminal statuses (COMPLETED, ERROR, CANCELLED) never transition further.',
      'statuses.terminal',
    ),
    testedRule(
      'Every change of the overall request status triggers one `request.updated` event.',
      'webhook.every-change',
    ),
    testedRule(
      'A check changing status without changing the overall request status triggers no event.',
      'webhook.only-changes',
    ),
    testedRule('Transitions from RECEIVED and from PARTIAL: not shown.', 'statuses.transitions'),
  ]),
  ...rulesUnder('Check status', [
    testedRule('Values: RECEIVED, IN_PROGRESS, COMPLETED, CANCELLED, ERROR.', 'requests.shape'),
    untestableRule('Transitions: not shown.', reasons.open),
  ]),
  ...rulesUnder('Referee status', [
    testedRule('Values: IN_PROGRESS, COMPLETED, CANCELLED.', 'requests.shape'),
    untestableRule('Transitions: not shown.', reasons.open),
  ]),
  ...rulesUnder('Package status', [
    testedRule('Values: ACTIVE, INACTIVE, DISABLED.', 'packages.list'),
    untestableRule(
      'Transitions and the precise meaning of INACTIVE versus DISABLED: not shown.',
      reasons.open,
    ),
    untestableRule(
      'Package schema versions: a new required field creates a new package version with a new `id`;',
      'The API has no call that adds a field to a package.',
    ),
    testedRule('the schema of an existing package id stays stable.', 'schema.stable'),
  ]),
]

import { InvalidInputError } from '../../errors/kinds.ts'
import type { SeededRandom } from './seeded-random.ts'

interface Rule {
  /** The section of the document that the rule belongs to. */
  section: string
  /** The sentence of the document, quoted. */
  sentence: string
  /** What the sentence leaves open. */
  open: string
  /** The possible choices; the first is the sandbox's default. */
  choices: readonly [string, ...string[]]
}

/** Rules that the document leaves open, with the choices that it allows. */
export const ruleTable = {
  'quota-window-start': {
    section: 'Limits',
    sentence: '60 requests per 60-second fixed window, per API key',
    open: 'When a quota window starts.',
    choices: ['first-call', 'clock'],
  },
  'refused-calls-count': {
    section: 'Limits',
    sentence: 'Breach behaviour: 429 client_error with Retry-After (seconds)',
    open: 'Whether a call answered with 429 uses up the quota further.',
    choices: ['no', 'yes'],
  },
  'hidden-package-schema': {
    section: 'GET /v1/packages/{id}/schema',
    sentence:
      '403 (user not an active member, or no access to the package); 404 (package not found or not available to the organisation and user)',
    open: 'Whether a package that is hidden from the user’s role answers 404 or 403.',
    choices: ['404', '403'],
  },
  'disabled-package-schema': {
    section: 'Package status',
    sentence: 'the precise meaning of INACTIVE versus DISABLED: not shown',
    open: 'Whether the schema of a DISABLED package can be read.',
    choices: ['404', '200'],
  },
  'support-creates': {
    section: 'Authentication',
    sentence: 'An action not permitted by the role gives 403',
    open: 'Whether the role support may create requests.',
    choices: ['no', 'yes'],
  },
  'error-checks': {
    section: 'Request status',
    sentence: 'ERROR: Terminal. The request could not be processed and no checks were created.',
    open: 'What `checks` holds when the status is ERROR: entries with a null id, or nothing.',
    choices: ['null-ids', 'none'],
  },
  'error-from': {
    section: 'States and transitions',
    sentence: 'IN_PROGRESS, Processing failure → ERROR; transitions from RECEIVED: not shown',
    open: 'Which status a request is in before it turns to ERROR.',
    choices: ['IN_PROGRESS', 'RECEIVED'],
  },
  'leaving-received': {
    section: 'States and transitions',
    sentence: 'Transitions from RECEIVED and from PARTIAL: not shown',
    open: 'Whether a request can go from RECEIVED to its end without being seen IN_PROGRESS.',
    choices: ['step-by-step', 'at-once'],
  },
  'report-ready': {
    section: 'Check',
    sentence: 'Signed URL; null until the report is available',
    open: 'Whether the report is ready when the check is COMPLETED, or minutes later.',
    choices: ['with-completion', 'later'],
  },
  'event-on-acceptance': {
    section: 'Events',
    sentence: 'It is sent when the overall request status changes',
    open: 'Whether the acceptance itself (status RECEIVED) sends an event.',
    choices: ['no', 'yes'],
  },
  'webhook-retries': {
    section: 'Events',
    sentence: 'Failed deliveries may be retried. Retry count and schedule: not shown',
    open: 'When a failed delivery is tried again.',
    choices: ['backoff', 'quick', 'never'],
  },
  'repeated-events': {
    section: 'Events',
    sentence: 'Delivery is at least once; duplicates are possible.',
    open: 'Whether an event that was acknowledged is sometimes sent a second time.',
    choices: ['never', 'sometimes'],
  },
  'error-reason-form': {
    section: 'Events',
    sentence: 'error_reason: diagnostic text. Its format: not shown',
    open: 'What the text of error_reason looks like.',
    choices: ['sentence', 'code', 'lines'],
  },
  'created-at-form': {
    section: 'Request',
    sentence: 'created_at: string (ISO 8601 timestamp)',
    open: 'The precision of created_at, and how its time zone is written.',
    choices: ['milliseconds', 'seconds', 'offset'],
  },
  'referee-id-form': {
    section: 'Referee',
    sentence: 'referee_id: string (in the path: integer or string)',
    open: 'Whether a referee_id is digits or a UUID.',
    choices: ['digits', 'uuid'],
  },
  'body-limit': {
    section: 'Limits',
    sentence: 'Maximum lengths of text fields and maximum request body size: not shown',
    open: 'How large the body of a request may be.',
    choices: ['1 MiB', '64 KiB', 'none'],
  },
  'text-limit': {
    section: 'Limits',
    sentence: 'Maximum lengths of text fields and maximum request body size: not shown',
    open: 'How many characters a text field may have.',
    choices: ['none', '255'],
  },
  'blank-text': {
    section: 'POST /v1/requests',
    sentence: 'recipient.first_name | string | Yes |',
    open: 'Whether a required text may be empty or blank.',
    choices: ['refused', 'accepted'],
  },
  'control-characters': {
    section: 'POST /v1/requests',
    sentence: 'recipient.first_name | string | Yes |',
    open: 'Whether a name may hold control characters such as NUL.',
    choices: ['refused', 'accepted'],
  },
  'null-values': {
    section: 'POST /v1/requests',
    sentence: 'additional_information | array | No |',
    open: 'Whether null for something optional is refused, or counts as left out.',
    choices: ['refused', 'left-out'],
  },
  'email-form': {
    section: 'POST /v1/requests',
    sentence: 'recipient.email | string | Yes | Must be a valid email address.',
    open: 'Whether an e-mail address may hold letters beyond ASCII.',
    choices: ['ascii', 'international'],
  },
  'content-type': {
    section: 'POST /v1/requests',
    sentence: 'Headers: the two authentication headers and `Content-Type: application/json`, all required.',
    open: 'Whether a JSON type of a vendor, which ends in +json, is taken as well.',
    choices: ['exact', 'json-suffix'],
  },
  'repeated-parameters': {
    section: 'GET /v1/packages',
    sentence:
      'status | string | No | Filter. Allowed: active, inactive, disabled. An unsupported value gives 400.',
    open: 'Whether a query parameter given twice, each time with a good value, is refused, or the first counts.',
    choices: ['refused', 'first'],
  },
  'id-case': {
    section: 'Request',
    sentence: 'request_id | string (UUID) | Identifier.',
    open: 'Whether the id of a request or check in capital letters is the same id.',
    choices: ['ignored', 'exact'],
  },
} as const satisfies Record<string, Rule>

export type RuleName = keyof typeof ruleTable
export type Choice<N extends RuleName = RuleName> = (typeof ruleTable)[N]['choices'][number]
export type Choices = { [N in RuleName]: Choice<N> }

/** An entry of `sandbox rules`. */
export interface RuleSetting extends Rule {
  name: RuleName
  current: string
}

const ruleNames = Object.keys(ruleTable) as RuleName[]

export function listRuleSettings(current: Choices): RuleSetting[] {
  return ruleNames.map((name) => ({ name, ...ruleTable[name], current: current[name] }))
}

/** Returns the default choices of the sandbox: the first choice of each rule. */
export function listDefaultRules(): Choices {
  return Object.fromEntries(ruleNames.map((name) => [name, ruleTable[name].choices[0]])) as Choices
}

/** Returns the choice of a rule. Throws an InvalidInputError if there is no such rule or choice. */
export function parseChoice(name: string, choice: string): Partial<Choices> {
  const rule: Rule | undefined = Object.hasOwn(ruleTable, name) ? ruleTable[name as RuleName] : undefined
  if (rule === undefined) {
    throw new InvalidInputError(`no rule named "${name}"`, {
      hint: `Rules: ${ruleNames.join(', ')}`,
    })
  }
  if (!rule.choices.includes(choice)) {
    throw new InvalidInputError(`the rule "${name}" has no choice "${choice}"`, {
      hint: `Choices: ${rule.choices.join(', ')}`,
    })
  }
  return { [name]: choice }
}

/**
 * Draws a choice for each rule from the seed, so that clients are tested with every choice that the document
 * allows.
 */
export function drawRules(rng: SeededRandom): Choices {
  const choices = ruleNames.map((name) => [name, rng.pick<string>(ruleTable[name].choices, 'rule', name)])
  return Object.fromEntries(choices) as Choices
}

/** Names of permanent changes that a tester can make, immediately or as a fault of a later call. */
export const permanentChangeNames = [
  'revoke-key',
  'deactivate-user',
  'no-credits',
  'expire-trial',
  'deactivate-subscription',
  'replace-package',
] as const

export type PermanentChange = (typeof permanentChangeNames)[number]

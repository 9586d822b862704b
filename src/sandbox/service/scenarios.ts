import { InvalidInputError } from '../../errors/kinds.ts'
import type { Fault } from './faults.ts'

/** One thing a tester can ask for, by the tag in a recipient's e-mail: `jane+declined@example.com`. */
export interface Scenario {
  tag: string
  /** Which part of a request's life it changes. */
  changes: 'progress' | 'create' | 'report' | 'event'
  what: string
}

/** Every scenario; several may stand in one address: `jane+mixed+event-twice@example.com`. */
export const scenarioTable: readonly Scenario[] = [
  {
    tag: 'declined',
    changes: 'progress',
    what: 'The recipient declines after 12 minutes: all checks CANCELLED.',
  },
  {
    tag: 'stopped',
    changes: 'progress',
    what: 'Someone stops the request after 13 minutes: all checks CANCELLED.',
  },
  {
    tag: 'deleted',
    changes: 'progress',
    what: 'Someone deletes the request after 11 minutes: all checks CANCELLED.',
  },
  {
    tag: 'expired',
    changes: 'progress',
    what: 'Nobody answers: all checks CANCELLED at the end of the hour.',
  },
  { tag: 'mixed', changes: 'progress', what: 'One check is CANCELLED, the others are COMPLETED: COMPLETED.' },
  {
    tag: 'check-error',
    changes: 'progress',
    what: 'One check ends in ERROR, the others are COMPLETED: COMPLETED.',
  },
  {
    tag: 'all-errors',
    changes: 'progress',
    what: 'Every check ends in ERROR: CANCELLED, as none was COMPLETED.',
  },
  { tag: 'error', changes: 'progress', what: 'The request cannot be processed: ERROR with an error_reason.' },
  { tag: 'no-referees', changes: 'progress', what: 'Nobody is nominated; the reference check is CANCELLED.' },
  { tag: 'slow-referees', changes: 'progress', what: 'The referees answer three days later.' },
  { tag: 'referee-cancelled', changes: 'progress', what: 'One referee is CANCELLED, the others answer.' },
  {
    tag: 'unnamed',
    changes: 'progress',
    what: 'Referees have no name and no e-mail, background checks no name and no provider: null.',
  },
  {
    tag: 'report-never',
    changes: 'progress',
    what: 'Checks are COMPLETED, their reports never become available.',
  },
  {
    tag: 'report-later',
    changes: 'progress',
    what: 'Reports become available half an hour after completion.',
  },
  { tag: 'stuck', changes: 'progress', what: 'Stays RECEIVED for ever.' },
  { tag: 'stalled', changes: 'progress', what: 'Stays IN_PROGRESS for ever.' },
  { tag: 'instant', changes: 'progress', what: 'The usual course in seconds instead of minutes.' },
  { tag: '500-before', changes: 'create', what: 'POST answers 500 and creates nothing.' },
  { tag: '500-after', changes: 'create', what: 'POST answers 500 although the request was created.' },
  {
    tag: '502-html',
    changes: 'create',
    what: 'A gateway answers 502 with HTML although the request was created.',
  },
  { tag: 'cut-before', changes: 'create', what: 'The connection breaks and nothing is created.' },
  { tag: 'cut-after', changes: 'create', what: 'The connection breaks although the request was created.' },
  { tag: 'hang-before', changes: 'create', what: 'POST never answers and creates nothing.' },
  { tag: 'hang-after', changes: 'create', what: 'POST never answers although the request was created.' },
  { tag: 'no-id', changes: 'create', what: 'POST answers 201 without a request_id.' },
  { tag: 'throttled', changes: 'create', what: 'POST answers 429 with Retry-After 1 and creates nothing.' },
  { tag: 'report-truncated', changes: 'report', what: 'Downloads break off in the middle of the PDF.' },
  { tag: 'report-html', changes: 'report', what: 'Downloads answer 200 with text/html.' },
  { tag: 'event-twice', changes: 'event', what: 'Each event is delivered twice.' },
  { tag: 'event-late', changes: 'event', what: 'Each event is delivered a minute late.' },
  {
    tag: 'event-unordered',
    changes: 'event',
    what: 'Events about earlier statuses arrive after the last one.',
  },
  {
    tag: 'event-forged',
    changes: 'event',
    what: 'The first attempt of each event has a signature that does not match.',
  },
]

const known = new Set(scenarioTable.map(({ tag }) => tag))

const createFaults: Record<string, Fault> = {
  '500-before': { kind: 'status', status: 500, when: 'before' },
  '500-after': { kind: 'status', status: 500, when: 'after' },
  '502-html': { kind: 'status', status: 502, when: 'after', body: 'html' },
  'cut-before': { kind: 'cut', when: 'before' },
  'cut-after': { kind: 'cut', when: 'after' },
  'hang-before': { kind: 'hang', when: 'before' },
  'hang-after': { kind: 'hang', when: 'after' },
  'no-id': { kind: 'no-id' },
  throttled: { kind: 'status', status: 429, when: 'before', retryAfter: '1' },
}

const reportFaults: Record<string, Fault> = {
  'report-truncated': { kind: 'truncated', keep: 0.5, announced: true },
  'report-html': { kind: 'content-type', value: 'text/html' },
}

/** What the tags of an e-mail address ask for; other tags mean nothing here. */
export function scenariosOf(email: string): string[] {
  const [, ...tags] = email.slice(0, email.lastIndexOf('@')).toLowerCase().split('+')
  return tags.filter((tag) => known.has(tag))
}

/** Throws InvalidInputError unless there is such a scenario. */
export function checkedScenario(tag: string): string {
  if (known.has(tag)) return tag
  throw new InvalidInputError(`no scenario named "${tag}"`, {
    hint: `Scenarios: ${[...known].join(', ')}`,
  })
}

export function createFault(scenarios: readonly string[]): Fault | undefined {
  return firstOf(createFaults, scenarios)
}

export function reportFault(scenarios: readonly string[]): Fault | undefined {
  return firstOf(reportFaults, scenarios)
}

function firstOf(faults: Record<string, Fault>, scenarios: readonly string[]): Fault | undefined {
  const name = scenarios.find((scenario) => Object.hasOwn(faults, scenario))
  return name === undefined ? undefined : faults[name]
}

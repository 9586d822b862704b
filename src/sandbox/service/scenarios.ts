import { InvalidInputError } from '../../errors/kinds.ts'
import type { Fault } from './schemas.ts'

/** A behaviour that a tester requests by a tag in a recipient's e-mail: `jane+declined@example.com`. */
export interface Scenario {
  tag: string
  /** The part of a request that the scenario changes. */
  changes: 'progress' | 'create' | 'report' | 'event'
  what: string
}

/**
 * Descriptions of all scenarios, by the part that they change. An address may have several:
 * `jane+mixed+event-twice@example.com`.
 */
const descriptions: Readonly<Record<Scenario['changes'], Readonly<Record<string, string>>>> = {
  progress: {
    declined: 'The recipient declines after 12 minutes: all checks CANCELLED.',
    stopped: 'Someone stops the request after 13 minutes: all checks CANCELLED.',
    deleted: 'Someone deletes the request after 11 minutes: all checks CANCELLED.',
    expired: 'Nobody answers: all checks CANCELLED at the end of the hour.',
    mixed: 'One check is CANCELLED, the others are COMPLETED: COMPLETED.',
    'check-error': 'One check ends in ERROR, the others are COMPLETED: COMPLETED.',
    'all-errors': 'Every check ends in ERROR: CANCELLED, as none was COMPLETED.',
    error: 'The request cannot be processed: ERROR with an error_reason.',
    'no-referees': 'Nobody is nominated; the reference check is CANCELLED.',
    'slow-referees': 'The referees answer three days later.',
    'referee-cancelled': 'One referee is CANCELLED, the others answer.',
    unnamed: 'Referees have no name and no e-mail, background checks no name and no provider: null.',
    'report-never': 'Checks are COMPLETED, their reports never become available.',
    'report-later': 'Reports become available half an hour after completion.',
    stuck: 'Stays RECEIVED for ever.',
    stalled: 'Stays IN_PROGRESS for ever.',
    instant: 'The usual course in seconds instead of minutes.',
  },
  create: {
    '500-before': 'POST answers 500 and creates nothing.',
    '500-after': 'POST answers 500 although the request was created.',
    '502-html': 'A gateway answers 502 with HTML although the request was created.',
    'cut-before': 'The connection breaks and nothing is created.',
    'cut-after': 'The connection breaks although the request was created.',
    'hang-before': 'POST never answers and creates nothing.',
    'hang-after': 'POST never answers although the request was created.',
    'no-id': 'POST answers 201 without a request_id.',
    throttled: 'POST answers 429 with Retry-After 1 and creates nothing.',
  },
  report: {
    'report-truncated': 'Downloads break off in the middle of the PDF.',
    'report-html': 'Downloads answer 200 with text/html.',
  },
  event: {
    'event-twice': 'Each event is delivered twice.',
    'event-late': 'Each event is delivered a minute late.',
    'event-unordered': 'Events about earlier statuses arrive after the last one.',
    'event-forged': 'The first attempt of each event has a signature that does not match.',
  },
}

export const scenarioTable: readonly Scenario[] = Object.entries(descriptions).flatMap(([changes, tags]) =>
  Object.entries(tags).map(([tag, what]) => ({ tag, changes: changes as Scenario['changes'], what })),
)

const knownTags = new Set(scenarioTable.map(({ tag }) => tag))

/** The faults of calls that create a request, by the scenario. */
export const createFaults: Record<string, Fault> = {
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

/** The faults of downloads of reports, by the scenario. */
export const reportFaults: Record<string, Fault> = {
  'report-truncated': { kind: 'truncated', keep: 0.5, announced: true },
  'report-html': { kind: 'content-type', value: 'text/html' },
}

/** Returns the scenarios in an e-mail address. Unknown tags are ignored. */
export function findScenarios(email: string): string[] {
  const [, ...tags] = email.slice(0, email.lastIndexOf('@')).toLowerCase().split('+')
  return tags.filter((tag) => knownTags.has(tag))
}

/** Returns the tag of a scenario. Throws an InvalidInputError if there is no such scenario. */
export function requireScenario(tag: string): string {
  if (knownTags.has(tag)) return tag
  throw new InvalidInputError(`no scenario named "${tag}"`, {
    hint: `Scenarios: ${[...knownTags].join(', ')}`,
  })
}

/** Returns the fault of the first scenario that has one. */
export function findFault(faults: Record<string, Fault>, scenarios: readonly string[]): Fault | undefined {
  return faults[scenarios.find((scenario) => Object.hasOwn(faults, scenario)) ?? '']
}

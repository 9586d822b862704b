import { entries, field } from '../answer.ts'
import type { Case } from '../case.ts'
import { checksOf, journeys, type Sighting, sightingsOf } from '../journey.ts'
import type { Visit } from '../visit.ts'

const section = 'Request status'
const finished = new Set(['COMPLETED', 'CANCELLED', 'ERROR'])

const statusesOf = (data: unknown): string[] => checksOf(data).map((check) => String(field(check, 'status')))

/** The sightings with this status whose checks do not mean it. */
async function contradictions(
  visit: Visit,
  status: string,
  means: (checks: string[], sighting: Sighting) => boolean,
): Promise<string[]> {
  return (await sightingsOf(visit, status))
    .filter((sighting) => !means(statusesOf(sighting.data), sighting))
    .map(({ data }) => `a request is ${status} while its checks are [${statusesOf(data).join(', ')}]`)
}

const any = (checks: string[], status: string): boolean => checks.includes(status)
const over = (checks: string[]): boolean => checks.every((status) => finished.has(status))

export const statusCases: readonly Case[] = [
  {
    id: 'statuses.received',
    section,
    rule: 'RECEIVED | Initial status on creation. Accepted; checks not yet started.',
    kind: 'create',
    run: (visit) =>
      contradictions(visit, 'RECEIVED', (checks) => checks.every((status) => status === 'RECEIVED')),
  },
  {
    id: 'statuses.in-progress',
    section,
    rule: 'IN_PROGRESS | At least one check is in progress and none has completed.',
    kind: 'create',
    run: (visit) =>
      contradictions(
        visit,
        'IN_PROGRESS',
        (checks) => any(checks, 'IN_PROGRESS') && !any(checks, 'COMPLETED'),
      ),
  },
  {
    id: 'statuses.partial',
    section,
    rule: 'PARTIAL | At least one check has completed while others are still in progress.',
    kind: 'create',
    run: (visit) => contradictions(visit, 'PARTIAL', (checks) => any(checks, 'COMPLETED') && !over(checks)),
  },
  {
    id: 'statuses.completed',
    section,
    rule: 'COMPLETED | Terminal. All checks finished and at least one completed successfully.',
    kind: 'create',
    run: (visit) => contradictions(visit, 'COMPLETED', (checks) => any(checks, 'COMPLETED') && over(checks)),
  },
  {
    id: 'statuses.cancelled',
    section,
    rule: 'CANCELLED | Terminal. All checks finished and none reached COMPLETED (for example expired, declined, deleted or stopped).',
    kind: 'create',
    run: (visit) => contradictions(visit, 'CANCELLED', (checks) => !any(checks, 'COMPLETED') && over(checks)),
  },
  {
    id: 'statuses.error',
    section,
    rule: 'ERROR | Terminal. The request could not be processed and no checks were created.',
    kind: 'create',
    run: (visit) =>
      contradictions(visit, 'ERROR', (_checks, { data }) =>
        checksOf(data).every((check) => field(check, 'id') === null),
      ),
  },
  {
    id: 'statuses.transitions',
    section,
    rule: 'Transitions from RECEIVED and from PARTIAL: not shown.',
    kind: 'create',
    async run(visit) {
      return (await journeys(visit)).flatMap(({ sightings }) =>
        sightings.flatMap(({ status }, at) => {
          const before = sightings[at - 1]?.status
          const back = status === 'RECEIVED' && before !== undefined && before !== 'RECEIVED'
          const undone = before === 'PARTIAL' && status === 'IN_PROGRESS'
          return back || undone ? [`a request went from ${before} back to ${status}`] : []
        }),
      )
    },
  },
  {
    id: 'statuses.reports-of-the-finished',
    section: 'Check (element of checks)',
    rule: 'report_pdf_url | string or null | Background checks only. Signed URL; null until the report is available. Token valid 1 hour.',
    kind: 'create',
    async run(visit) {
      const all = (await journeys(visit)).flatMap(({ sightings }) => sightings)
      const checks = all.flatMap(({ data }) => checksOf(data))
      const referees = checks.flatMap((check) => entries(field(check, 'references')))
      return [...checks, ...referees]
        .filter((each) => ['RECEIVED', 'IN_PROGRESS'].includes(String(field(each, 'status'))))
        .filter((each) => typeof field(each, 'report_pdf_url') === 'string')
        .map((each) => `there is a report_pdf_url while its status is ${String(field(each, 'status'))}`)
    },
  },
]

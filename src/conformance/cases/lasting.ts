import { field } from '../answer.ts'
import { type Case, unless } from '../case.ts'
import { about, statusOf } from '../events.ts'
import { journeys, terminal } from '../journey.ts'

/*
 * What has to stay as it is; asked when everything else has been, so that there was time for it to change.
 */

const day = 24 * 3_600_000
/** Where time is not moved. */
const moment = 3000

export const lastingCases: readonly Case[] = [
  {
    id: 'statuses.terminal',
    section: 'Request status',
    rule: 'Terminal statuses (COMPLETED, ERROR, CANCELLED) never transition further.',
    kind: 'create',
    async run(visit) {
      const ended = (await journeys(visit)).filter((each) => each.ended)
      unless(ended.length > 0, 'no request finished while it was watched')
      const findings: string[] = []
      for (let time = 0; time < 2; time += 1) {
        await visit.pace.pause(visit.pace.exact ? day : moment)
        for (const { ordered, sightings } of ended) {
          const before = sightings.at(-1)?.status
          const answer = await visit.probe.get(`/v1/requests/${ordered.requestId}`)
          const status = field(answer.data, 'status')
          if (status !== before) findings.push(`a request went from ${before} to ${String(status)}`)
        }
      }
      for (const { ordered } of await journeys(visit)) {
        const told = (visit.receiver?.deliveries ?? []).filter((each) => about(each, ordered.requestId))
        const ends = [...new Set(told.map(statusOf).filter((status) => terminal.has(status)))]
        if (ends.length > 1) findings.push(`events of one request say ${ends.join(' and ')}`)
      }
      return findings
    },
  },
]

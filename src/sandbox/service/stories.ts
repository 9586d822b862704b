import type { AdditionalInformation } from '../../contract/request.ts'
import { terminalStatuses } from '../../contract/statuses.ts'
import { InvalidInputError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { Deliveries } from './delivery.ts'
import type { DeliveryRecord, PackageRecord, StoryResult } from './schemas.ts'
import type { Service } from './service.ts'
import type { Caller } from './state.ts'

/** The progress of a request and the delivery of its events, for `sandbox trigger`. */
export interface Story {
  name: string
  what: string
  /** Tags of the scenarios that the request follows. */
  scenarios: readonly string[]
  /** Status at which the request stays; without it the request reaches a terminal status. */
  until?: 'PARTIAL'
  /**
   * Order of the events. `at-once`: each when it happens; `late`: all after the last change of status; `reversed`: as
   * `late`, but the last event first.
   */
  order: 'at-once' | 'late' | 'reversed'
  /** Signatures of each event, with a delivery per entry; a bad signature is made with another secret. */
  signatures: readonly ('good' | 'bad')[]
}

const createStory = (name: string, what: string, more: Partial<Story> = {}): Story => ({
  name,
  what,
  scenarios: [],
  order: 'at-once',
  signatures: ['good'],
  ...more,
})

/** All stories. */
export const storyTable: readonly Story[] = [
  createStory('completed', 'IN_PROGRESS, PARTIAL, then COMPLETED, each event when it happens.'),
  createStory('partial', 'IN_PROGRESS, then PARTIAL: one check is COMPLETED, the others stay in progress.', {
    until: 'PARTIAL',
  }),
  createStory('error', 'IN_PROGRESS, then ERROR with an error_reason.', { scenarios: ['error'] }),
  createStory('cancelled', 'IN_PROGRESS, then CANCELLED: the recipient declines.', {
    scenarios: ['declined'],
  }),
  createStory('out-of-order', 'The request is COMPLETED; its events arrive in reverse, COMPLETED first.', {
    order: 'reversed',
  }),
  createStory('repeated', 'Each event of a COMPLETED request is delivered twice.', {
    signatures: ['good', 'good'],
  }),
  createStory('late', 'The request is COMPLETED before the first of its events arrives.', { order: 'late' }),
  createStory(
    'forged',
    'Before each event the same with a signature that does not match; the receiver has to refuse it.',
    { signatures: ['bad', 'good'] },
  ),
]

/** Returns the story with this name. Throws an InvalidInputError if there is none. */
export function findStory(name: string): Story {
  const story = storyTable.find((each) => each.name === name)
  if (story !== undefined) return story
  throw new InvalidInputError(`no story named "${name.slice(0, 60)}"`, {
    hint: `Stories: ${storyTable.map((each) => each.name).join(', ')}`,
  })
}

/**
 * Creates a request, advances it through its statuses without waiting for the clock, and posts its events to `url`
 * one after the other. Uses no quota and no credit.
 */
export async function playStory(
  story: Story,
  url: string,
  caller: Caller,
  service: Service,
  deliveries: Deliveries,
  clock: Clock,
): Promise<StoryResult> {
  const pack = findStoryPackage(service, caller)
  const { request, events, end } = deliveries.collect(() =>
    service.createRequest(createStoryBody(story, pack), caller, pack, [...story.scenarios], clock.now()),
  )
  const hasEnded = (): boolean => request.status === story.until || terminalStatuses.includes(request.status)
  const nextEvent = (): DeliveryRecord | undefined => {
    while (events.length === 0 && !hasEnded())
      service.advanceRequest(request.request_id, undefined, clock.now())
    return events.shift()
  }
  const results: StoryResult['deliveries'] = []
  const deliver = async (event: DeliveryRecord): Promise<void> => {
    for (const signature of story.signatures) {
      const { outcome, ms } = await deliveries.deliverTo(url, event, signature === 'bad')
      const hasResponse = /^\d{3}$/.test(outcome)
      results.push({
        status: event.status,
        signature,
        http_status: hasResponse ? Number(outcome) : null,
        failure: hasResponse ? null : outcome,
        ms,
      })
    }
  }
  try {
    const waitingEvents: DeliveryRecord[] = []
    for (let event = nextEvent(); event !== undefined; event = nextEvent()) {
      if (story.order === 'at-once') await deliver(event)
      else waitingEvents.push(event)
    }
    if (story.order === 'reversed') waitingEvents.reverse()
    for (const event of waitingEvents) await deliver(event)
    if (story.until !== undefined) service.stopProgress(request)
  } finally {
    end()
  }
  return { story: story.name, request_id: request.request_id, deliveries: results }
}

/** Returns the ACTIVE package with the most checks. At least two are needed for PARTIAL. */
function findStoryPackage({ state }: Service, { organisation }: Caller): PackageRecord {
  const packages = state.packages.get(organisation.id)?.values() ?? []
  const [largest] = [...packages]
    .filter(({ status }) => status === 'ACTIVE')
    .sort((left, right) => countChecks(right) - countChecks(left))
  if (largest !== undefined && countChecks(largest) > 1) return largest
  throw new InvalidInputError('the sandbox has no ACTIVE package with two checks or more', {
    hint: 'Add one to the fixture, or leave out --fixture when you start the sandbox.',
  })
}

const countChecks = ({ reference_survey, background_checks }: PackageRecord): number =>
  background_checks.length + (reference_survey === null ? 0 : 1)

function createStoryBody(story: Story, pack: PackageRecord) {
  return {
    package_id: pack.id,
    recipient: {
      first_name: 'Sample',
      last_name: 'Recipient',
      email: `${story.name}@example.com`,
      phone: '+61400000000',
    },
    additional_information: pack.additional_information.map(toSampleInformation),
  }
}

const samples: Readonly<Record<string, AdditionalInformation['fields'][string]>> = {
  string: 'sample',
  integer: 1,
  number: 1,
  boolean: false,
  array: [],
  object: {},
}

function toSampleInformation({
  code,
  fields,
}: PackageRecord['additional_information'][number]): AdditionalInformation {
  const requiredFields = Object.entries(fields).filter(([, field]) => field.required)
  return {
    code,
    fields: Object.fromEntries(requiredFields.map(([name, { type }]) => [name, samples[type] ?? null])),
  }
}

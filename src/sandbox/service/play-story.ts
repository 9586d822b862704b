import type { AdditionalInformation } from '../../contract/request-body.ts'
import type { RequestStatus } from '../../contract/statuses.ts'
import { InvalidInputError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { Deliveries } from './delivery.ts'
import type { Service } from './service.ts'
import type { Caller, DeliveryRecord, PackageRecord } from './state.ts'
import { type Story, storyTable } from './stories.ts'

/** What became of one event of a story. */
export interface StoryDelivery {
  status: RequestStatus
  signature: 'good' | 'bad'
  /** What the receiver answered; null where it did not. */
  http_status: number | null
  /** Why there was no answer. */
  failure: string | null
  /** Real milliseconds until the answer, or until there was none. */
  ms: number
}

export interface StoryResult {
  story: string
  request_id: string
  deliveries: StoryDelivery[]
}

interface Stage {
  service: Service
  deliveries: Deliveries
  clock: Clock
  caller: Caller
}

/** The story of that name. Throws InvalidInputError where there is none. */
export function findStory(name: string): Story {
  const story = storyTable.find((each) => each.name === name)
  if (story !== undefined) return story
  throw new InvalidInputError(`no story named "${name.slice(0, 60)}"`, {
    hint: `Stories: ${storyTable.map((each) => each.name).join(', ')}`,
  })
}

/**
 * Creates a request, drives it through its statuses without waiting for the clock, and posts its events to `url`, each
 * once and one after the other. It uses no quota and no credit.
 */
export async function playStory(story: Story, url: string, stage: Stage): Promise<StoryResult> {
  const { service, deliveries, clock, caller } = stage
  const pack = packageOf(stage)
  const { request, events, end } = deliveries.collect(() =>
    service.accept(bodyOf(story, pack), caller, pack, [...story.scenarios], clock.now()),
  )
  const isOver = (): boolean => request.status === story.until || terminal.has(request.status)
  const next = (): DeliveryRecord | undefined => {
    while (events.length === 0 && !isOver())
      service.advanceRequest(request.request_id, undefined, clock.now())
    return events.shift()
  }
  const sent: StoryDelivery[] = []
  const deliver = async (event: DeliveryRecord): Promise<void> => {
    for (const signature of story.signatures) {
      const { outcome, ms } = await deliveries.deliverTo(url, event, signature === 'bad')
      const isAnswer = /^\d{3}$/.test(outcome)
      sent.push({
        status: event.status,
        signature,
        http_status: isAnswer ? Number(outcome) : null,
        failure: isAnswer ? null : outcome,
        ms,
      })
    }
  }
  try {
    const waiting: DeliveryRecord[] = []
    for (let event = next(); event !== undefined; event = next()) {
      if (story.order === 'at-once') await deliver(event)
      else waiting.push(event)
    }
    if (story.order === 'reversed') waiting.reverse()
    for (const event of waiting) await deliver(event)
    if (story.until !== undefined) service.stopProgress(request)
  } finally {
    end()
  }
  return { story: story.name, request_id: request.request_id, deliveries: sent }
}

const terminal: ReadonlySet<RequestStatus> = new Set(['COMPLETED', 'ERROR', 'CANCELLED'])

/** The ACTIVE package with the most checks: PARTIAL needs two. */
function packageOf({ service, caller }: Stage): PackageRecord {
  const packages = service.state.packages.get(caller.organisation.id)?.values() ?? []
  const [largest] = [...packages]
    .filter(({ status }) => status === 'ACTIVE')
    .sort((one, other) => checkCount(other) - checkCount(one))
  if (largest !== undefined && checkCount(largest) > 1) return largest
  throw new InvalidInputError('the sandbox has no ACTIVE package with two checks or more', {
    hint: 'Add one to the fixture, or leave out --fixture when you start the sandbox.',
  })
}

const checkCount = ({ reference_survey, background_checks }: PackageRecord): number =>
  background_checks.length + (reference_survey === null ? 0 : 1)

function bodyOf(story: Story, pack: PackageRecord) {
  return {
    package_id: pack.id,
    recipient: {
      first_name: 'Sample',
      last_name: 'Recipient',
      email: `${story.name}@example.com`,
      phone: '+61400000000',
    },
    additional_information: pack.additional_information.map(sampleOf),
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

function sampleOf({ code, fields }: PackageRecord['additional_information'][number]): AdditionalInformation {
  const required = Object.entries(fields).filter(([, field]) => field.required)
  return {
    code,
    fields: Object.fromEntries(required.map(([name, { type }]) => [name, samples[type] ?? null])),
  }
}

import type { RequestResource } from '../../contract/request.ts'
import type { RequestStatus } from '../../contract/statuses.ts'
import type { Clock } from '../../host/clock.ts'
import type { Connection } from '../../server/listen.ts'
import type { Deliver } from '../service/delivery.ts'
import type { Injection } from '../service/faults.ts'
import type { Journal } from '../service/journal.ts'
import type { Log } from '../service/log.ts'
import {
  currentUse,
  type DeliveryRecord,
  type Organisation,
  type QuotaWindow,
  type Snapshot,
} from '../service/state.ts'
import type { Reach } from '../service/networks.ts'
import type { Choices, RuleSetting, Switch } from '../service/rules.ts'
import type { Service } from '../service/service.ts'
import type { StoryResult } from '../service/play-story.ts'
import type { Fixture, packageIds, people } from './fixture.ts'

export interface SandboxOptions {
  /** A ManualClock makes the sandbox stand still until it is advanced. */
  clock: Clock
  /** Ids, credentials and random draws follow from it; the same seed gives the same sandbox. Default: a random one. */
  seed?: string | number | undefined
  /** How many times faster than the clock requests progress; nothing else is touched. Default 1. */
  speed?: number | undefined
  /** Default: the document's 60 a minute and 1,000 an hour. */
  quota?: readonly QuotaWindow[] | undefined
  /** The organisation's webhook. */
  webhookUrl?: string | undefined
  /** What to hold instead of the built-in people and packages. */
  fixture?: Fixture | undefined
  /** Choices among what the document leaves open; `seeded` draws each from the seed. */
  rules?: Partial<Choices> | 'seeded' | undefined
  /** Where the state is kept; it goes on from there. Default: in memory only. */
  data?: Journal | undefined
  /** How webhook events travel; default: over HTTP. */
  deliver?: Deliver | undefined
  /** How other machines reach it; default: only this machine does. */
  reach?: Reach | undefined
}

export interface Credentials {
  apiKey: string
  userEmail: string
  webhookSecret: string
}

/** The whole service of the document, in this process. */
export interface Sandbox {
  /** Of the first organisation. */
  readonly credentials: Credentials
  /** Who and what the built-in fixture holds. */
  readonly people: typeof people
  readonly packageIds: typeof packageIds
  /** A key of another organisation, and its owner's e-mail. */
  readonly otherOrganisation: { apiKey: string; userEmail: string }
  readonly log: Log
  /** Answers one call. Without a connection a cut shows as a rejection. */
  fetch(request: Request, connection?: Connection): Response | Promise<Response>
  /** The answer to what never became a request, or broke on the way: for `onError` of `listen`. */
  refuse(error: unknown): Response
  /** Makes calls, or the requests they create, go wrong; returns what takes it back. */
  inject(injection: Injection): () => void
  clearFaults(): void
  /** Every request there is, oldest first, as a client would read it now. */
  requests(): RequestResource[]
  /** Every delivery that waits, and the last thousand that are over. */
  deliveries(): DeliveryRecord[]
  overview(): Overview
  rules(): RuleSetting[]
  /** Throws InvalidInputError where there is no such rule or choice. */
  setRule(name: string, choice: string): void
  flipSwitch(name: Switch): void
  /** A new key for the organisation; the old one is revoked. */
  renewKey(): string
  setUserActive(email: string, active: boolean): void
  setCredits(credits: number | null): void
  changePlan(plan: Partial<Pick<Organisation, 'trial' | 'subscription'>>): void
  /** https, or http to this machine and to what `reach` names; throws UsageError for any other. */
  setWebhook(url: string | null): void
  /** Makes a package INACTIVE in favour of a new one, by default with one more required field; the new id. */
  replacePackage(id: number, options?: { newField?: boolean | undefined }): number
  /** Makes the next turn of a request, or of one of its checks, happen now. */
  advanceRequest(requestId: string, checkId?: string): void
  /** Sends an event once more: of that id, or the latest of the request of that id. Throws InvalidInputError where there is none. */
  redeliver(id: string): DeliveryRecord
  /** Plays a story of that name to `url`, or to the webhook of the organisation. Throws InvalidInputError where there is no such story or no URL. */
  trigger(story: string, url?: string): Promise<StoryResult>
  /** Moves a ManualClock by milliseconds, and everything with it. Throws UsageError under another clock. */
  advance(ms: number): Promise<void>
  snapshot(): Snapshot
  /** Holds what the snapshot held; a ManualClock goes back to where it stood. */
  restore(snapshot: Snapshot): void
  /** Back to the beginning. Without a seed that was given, ids of what is made from now on are new ones. */
  reset(): void
  /** Ends timers and deliveries, and closes the data. */
  close(): void
}

/** What is going on, in numbers. Times are milliseconds since the epoch. */
export interface Overview {
  now: number
  clock: 'real' | 'manual'
  speed: number
  seed: string
  webhook_url: string | null
  credits: number | null
  trial: Organisation['trial']
  subscription: Organisation['subscription']
  requests: Record<RequestStatus, number>
  deliveries: { waiting: number; delivered: number; given_up: number }
  /** The windows of the first organisation's key: how full, and when they end (null: nothing counted). */
  quota: (QuotaWindow & { used: number; ends_at: number | null })[]
}

interface OverviewOf {
  service: Service
  now: number
  manual: boolean
  organisationId: string
  apiKey: string
}

export function overview({ service, now, manual, organisationId, apiKey }: OverviewOf): Overview {
  const { state, windows } = service
  const requests = { RECEIVED: 0, IN_PROGRESS: 0, PARTIAL: 0, COMPLETED: 0, ERROR: 0, CANCELLED: 0 }
  for (const request of state.requests.values()) {
    service.bringUpToDate(request, now)
    requests[request.status] += 1
  }
  const deliveries = { waiting: 0, delivered: 0, given_up: 0 }
  for (const delivery of state.deliveries.values()) deliveries[delivery.state] += 1
  const organisation = state.organisations.get(organisationId)
  const uses = currentUse(state.quota.get(apiKey) ?? [], windows, now, service.rule('quota-window-start'))
  return {
    now,
    clock: manual ? 'manual' : 'real',
    speed: service.speed,
    seed: state.settings.seed,
    webhook_url: organisation?.webhook_url ?? null,
    credits: organisation?.credits ?? null,
    trial: organisation?.trial ?? 'none',
    subscription: organisation?.subscription ?? 'active',
    requests,
    deliveries,
    quota: windows.map(({ calls, seconds }, index) => {
      const use = uses[index]
      const counted = use !== undefined && use.used > 0
      return {
        calls,
        seconds,
        used: use?.used ?? 0,
        ends_at: counted ? use.started_at + seconds * 1000 : null,
      }
    }),
  }
}

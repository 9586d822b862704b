import type { RequestStatus } from '../../contract/statuses.ts'
import { currentUse, type QuotaWindow } from '../service/quota.ts'
import type { Organisation } from '../service/records.ts'
import type { Service } from '../service/service.ts'

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

export interface OverviewOf {
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

import type { Clock } from '../host/clock.ts'

/** The key and the user a call is made with. */
export interface Identity {
  apiKey: string
  userEmail: string
}

/** The deployment under examination. */
export interface Target extends Identity {
  /** Without the version prefix; a slash at the end does not matter. */
  baseUrl: string
  /** Another active user of the same organisation, best one with fewer rights. */
  secondEmail?: string | undefined
  /** A key of another organisation, and a user of it. */
  foreignUser?: Identity | undefined
  /** The windows of the quota; naming them allows to use them up. */
  quota?: readonly QuotaWindow[] | undefined
  /** Recipients whose requests end in a way of their own. */
  recipients?: Partial<Record<'usual' | 'cancelled' | 'error' | 'mixed', string | undefined>> | undefined
  /** An active user of the organisation whose role may not create requests. */
  noCreateEmail?: string | undefined
  /** A user of the organisation who is no longer active. */
  inactiveEmail?: string | undefined
  /** Ids of teams of the organisation that are no longer active. */
  inactiveTeams?: readonly string[] | undefined
  webhookSecret?: string | undefined
}

/** The shorter window first, as in "Limits". */
export interface QuotaWindow {
  calls: number
  seconds: number
}

/** What can be changed in the deployment, as far as anything can. */
export interface Control {
  /** Moves its clock on by so many milliseconds; what falls due happens. */
  advance?: ((ms: number) => Promise<void>) | undefined
  /** Sends the organisation's events to this URL. */
  pointWebhook?: ((url: string) => Promise<void>) | undefined
  /** Whether the organisation may order. */
  setPlan?: ((plan: Plan) => Promise<void>) | undefined
  deactivateUser?: ((email: string) => Promise<void>) | undefined
  revokeKey?: (() => Promise<void>) | undefined
  /** Makes the next call of GET /v1/users end in an internal error. */
  failNextUsers?: (() => Promise<void>) | undefined
}

export type Plan = 'good' | 'no credits' | 'trial expired' | 'subscription inactive'

/** How the suite lets time pass on the deployment: by advancing its clock, or by waiting. */
export interface Pace {
  /** Whether time passes by `pause` alone. */
  readonly exact: boolean
  /** Milliseconds since some moment. */
  now(): number
  pause(ms: number): Promise<void>
}

export function paceOf(control: Control, clock: Clock, signal: AbortSignal | undefined): Pace {
  const { advance } = control
  if (advance === undefined) {
    return { exact: false, now: () => clock.monotonic(), pause: (ms) => clock.sleep(ms, signal) }
  }
  let passed = 0
  return {
    exact: true,
    now: () => passed,
    async pause(ms) {
      signal?.throwIfAborted()
      const whole = Math.round(ms)
      passed += whole
      await advance(whole)
    },
  }
}

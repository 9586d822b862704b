import type { Clock } from '../host/clock.ts'

/** The key and the user of a call. */
export interface Identity {
  apiKey: string
  userEmail: string
}

/** The deployment that is tested. */
export interface Target extends Identity {
  /** Base URL without the version prefix, with or without a slash at the end. */
  baseUrl: string
  /** E-mail of another active user of the organisation, preferably one with fewer rights. */
  secondEmail?: string | undefined
  /** A key and a user of another organisation. */
  foreignUser?: Identity | undefined
  /** Windows of the quota. They are only given if the suite may use up the quota. */
  quota?: readonly QuotaWindow[] | undefined
  /** E-mails of recipients whose requests end in a certain way. */
  recipients?: Partial<Record<'usual' | 'cancelled' | 'error' | 'mixed', string | undefined>> | undefined
  /** E-mail of an active user whose role may not create requests. */
  noCreateEmail?: string | undefined
  /** E-mail of a user who is no longer active. */
  inactiveEmail?: string | undefined
  /** Ids of teams that are no longer active. */
  inactiveTeams?: readonly string[] | undefined
  webhookSecret?: string | undefined
}

/** A window of the quota. Lists have the shorter window first, as in "Limits". */
export interface QuotaWindow {
  calls: number
  seconds: number
}

/** Functions that change the deployment. A function is undefined if the deployment does not allow the change. */
export interface Control {
  /** Advances the deployment's clock by milliseconds. Everything that becomes due happens. */
  advance?: ((ms: number) => Promise<void>) | undefined
  /** Sets the organisation's webhook URL. */
  setWebhookUrl?: ((url: string) => Promise<void>) | undefined
  /** Sets the plan, which decides whether the organisation may order. */
  setPlan?: ((plan: Plan) => Promise<void>) | undefined
  deactivateUser?: ((email: string) => Promise<void>) | undefined
  revokeKey?: (() => Promise<void>) | undefined
  /** Makes the next GET /v1/users fail with an internal error. */
  failNextUserList?: (() => Promise<void>) | undefined
}

export type Plan = 'good' | 'no credits' | 'trial expired' | 'subscription inactive'

/** Lets time pass on the deployment, either by advancing its clock or by waiting. */
export interface DeploymentClock {
  /** Whether time passes only by `pause`. */
  readonly isManual: boolean
  /** Returns milliseconds since a fixed time. */
  now(): number
  pause(ms: number): Promise<void>
}

/** Returns a clock that `control.advance` advances; without `advance`, the real clock of this machine. */
export function createDeploymentClock(
  control: Control,
  clock: Clock,
  signal: AbortSignal | undefined,
): DeploymentClock {
  const { advance } = control
  if (advance === undefined) {
    return { isManual: false, now: () => clock.monotonic(), pause: (ms) => clock.sleep(ms, signal) }
  }
  let passedMs = 0
  return {
    isManual: true,
    now: () => passedMs,
    async pause(ms) {
      signal?.throwIfAborted()
      const totalMs = Math.round(ms)
      passedMs += totalMs
      await advance(totalMs)
    },
  }
}

import type { Pace } from './pace.ts'
import type { Probe } from './probe.ts'
import type { Receiver } from './receiver.ts'
import type { Control, Target } from './target.ts'

/** One run of the suite, as its cases see it. */
export interface Visit {
  readonly probe: Probe
  readonly pace: Pace
  readonly target: Target
  readonly control: Control
  /** Where the organisation's events arrive, if the suite may receive them. */
  readonly receiver: Receiver | undefined
  readonly mayCreate: boolean
  /** Milliseconds that a request is followed for at most, where time cannot be moved. */
  readonly watchMs: number
  /** What `make` comes to, made once a run, so that cases can stand on the same reads and orders. */
  once<T>(name: string, make: () => Promise<T>): Promise<T>
}

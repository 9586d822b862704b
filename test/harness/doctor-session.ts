import { type Filter, MS } from './filters.ts'
import { ManualClock } from './manual-clock.ts'
import { type Session, session, type SessionOptions } from './session.ts'

/** Filters for the figures of the machine that the tests run on. */
export const doctorFilters: readonly Filter[] = [
  MS,
  [/^(\w+ +node +).*$/gm, '$1NODE'],
  [/"\d+\.\d+\.\d+ \(needs [^"]*/g, '"NODE'],
  [/Node’s own authorities[^"\n]*/g, 'Node’s own authorities'],
]

/** A session at the real time, which doctor compares with that of the service. */
export const doctorSession = (more: SessionOptions = {}): Promise<Session> =>
  session({ filters: doctorFilters, clock: new ManualClock({ now: Date.now(), auto: true }), ...more })

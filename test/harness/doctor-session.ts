import { type Filter, MS } from './filters.ts'
import { ManualClock } from './manual-clock.ts'
import { type Session, session, type SessionOptions } from './session.ts'

/** What doctor reports of the machine that the tests run on. */
export const doctorFilters: readonly Filter[] = [
  MS,
  [/^(\w+ +node +).*$/gm, '$1NODE'],
  [/"\d+\.\d+\.\d+ \(needs [^"]*/g, '"NODE'],
  [/Node’s own authorities[^"\n]*/g, 'Node’s own authorities'],
]

/** The service tells the real time, and so does this machine. */
export const doctorSession = (more: SessionOptions = {}): Promise<Session> =>
  session({ filters: doctorFilters, clock: new ManualClock({ now: Date.now(), auto: true }), ...more })

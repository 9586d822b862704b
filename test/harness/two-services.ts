import type { SandboxOptions } from '../../src/sandbox/control/embedded.ts'
import { REPORT_FILE } from './filters.ts'
import { ManualClock } from './manual-clock.ts'
import { type Session, type SessionOptions, session, type Step, type TypingOptions } from './session.ts'
import { world, type World } from './world.ts'

export interface TwoServices extends Session {
  other: World
  /** Runs a command line with the other service, on the same store and folders. */
  typeAtOther: (line: string | readonly string[], options?: TypingOptions) => Promise<Step>
}

/** Starts a session with two services and one store. Both assign the same ids, because seed and clock are the same. */
export async function twoServices(
  options: Pick<SessionOptions, 'store'> = {},
  otherService: Partial<SandboxOptions> = {},
): Promise<TwoServices> {
  // PostgreSQL sets the times of orders from its own clock.
  const clock = new ManualClock(options.store === 'PostgreSQL' ? { now: Date.now() } : {})
  const here = await session({
    ...options,
    clock,
    quota: [],
    filters: REPORT_FILE,
  })
  const other = await world({ clock, seed: 'session', quota: [], ...otherService })
  const { REFCHECK_CONFIG_DIR: _, REFCHECK_DATA_DIR: __, ...service } = other.env
  return {
    ...here,
    other,
    typeAtOther: (line, more) => here.type(line, { ...more, exported: { ...service, ...more?.exported } }),
  }
}

import { expect } from 'vitest'

import { handler } from '../usecases/webhook/receivers/handler.ts'
import { secret } from '../usecases/webhook/receivers/served.ts'
import { systemClock } from '../../src/host/clock.ts'
import { MS } from './filters.ts'
import { type Session, session, type Step, type TypingOptions } from './session.ts'

export interface WebhookSession extends Session {
  /** `refcheck webhook …`, with the secret in the environment. */
  webhook: (line: string, options?: TypingOptions) => Promise<Step>
}

export async function webhookSession(): Promise<WebhookSession> {
  const here = await session({
    isLoggedOut: true,
    filters: [MS, [new RegExp(secret, 'g'), 'SECRET'], [/\d+ of 60 pairs/g, '# of 60 pairs']],
  })
  return {
    ...here,
    webhook: async (line, options = {}) => {
      const env = { REFCHECK_WEBHOOK_SECRET: secret }
      const step = await here.type(`webhook ${line}`, { exported: env, clock: systemClock, ...options })
      expect(step.stdout + step.stderr).not.toContain(secret)
      return step
    },
  }
}

/** Starts a receiver without faults. `bodies` contains the body of each delivery that it has received. */
export async function startGoodReceiver(): Promise<{ url: string; bodies: string[] }> {
  const bodies: string[] = []
  const url = await handler({
    statusFor(body) {
      bodies.push(body.toString())
      return 204
    },
  })()
  return { url, bodies }
}

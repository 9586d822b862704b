import { UsageError } from '../../errors/usage.ts'
import type { HttpClient } from '../../http/client.ts'
import { controlPath } from '../gateway.ts'
import { field } from './answer.ts'
import type { Control, Plan } from './target.ts'

/** A hand on a sandbox of this machine, and what puts everything back as it was found. */
export interface SandboxControl extends Control {
  restore(): Promise<void>
}

/** Throws UsageError where the base URL is not that of a sandbox. */
export async function sandboxControl(http: HttpClient, baseUrl: string): Promise<SandboxControl> {
  const base = `${baseUrl.replace(/\/+$/, '')}${controlPath}`
  const found = await http.send({ method: 'GET', url: `${base}snapshot` })
  const before = parsed(found.body)
  if (found.status !== 200 || field(before, 'version') === undefined) {
    throw new UsageError(`${new URL(baseUrl).host} is not a sandbox that can be controlled`, {
      hint: 'Leave --control out, or start one with "refcheck sandbox start".',
    })
  }
  const tell = async (what: string, body: unknown): Promise<unknown> => {
    const headers = { 'Content-Type': 'application/json' }
    const bytes = Buffer.from(JSON.stringify(body))
    const { status, body: said } = await http.sendOnce({
      method: 'POST',
      url: base + what,
      headers,
      body: bytes,
    })
    if (status === 200) return parsed(said)
    throw new UsageError(`the sandbox refused the control "${what}": ${said.toString('utf8').slice(0, 200)}`)
  }
  const state = parsed((await http.send({ method: 'GET', url: `${base}state` })).body)
  const manual = field(state, 'clock') === 'manual'
  return {
    ...(manual && { advance: async (ms: number) => void (await tell('advance', { ms })) }),
    pointWebhook: async (url) => void (await tell('webhook', { url })),
    setPlan: planSetter(http, base, tell),
    deactivateUser: async (email) => void (await tell('user', { email, active: false })),
    revokeKey: async () => void (await tell('switch', { switch: 'revoke-key' })),
    failNextUsers: async () =>
      void (await tell('inject', {
        on: 'GET /v1/users',
        fault: { kind: 'status', status: 500, when: 'before' },
      })),
    restore: async () => void (await tell('restore', before)),
  }
}

const switchOf: Record<Exclude<Plan, 'good'>, string> = {
  'no credits': 'no-credits',
  'trial expired': 'expire-trial',
  'subscription inactive': 'deactivate-subscription',
}

/** An expired trial cannot be taken back, so the good plan is what stood before the bad one. */
function planSetter(
  http: HttpClient,
  base: string,
  tell: (what: string, body: unknown) => Promise<unknown>,
): (plan: Plan) => Promise<void> {
  let good: unknown
  return async (plan) => {
    if (plan === 'good') {
      await tell('restore', good)
      return
    }
    good = parsed((await http.send({ method: 'GET', url: `${base}snapshot` })).body)
    await tell('switch', { switch: switchOf[plan] })
  }
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown
  } catch {
    return undefined
  }
}

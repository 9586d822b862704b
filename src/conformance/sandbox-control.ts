import { UnauthenticatedError, UsageError } from '../errors/kinds.ts'
import type { HttpClient } from '../http/client.ts'
import { entries, field, parsed } from './answer.ts'
import type { Control, Plan, Target } from './target.ts'

/**
 * Path of a sandbox's control API. A test compares it with the constant of the sandbox, which is not imported here.
 */
export const controlPath = '/_sandbox/'

/** Controls a sandbox of this machine. */
export interface SandboxControl extends Control {
  /** Data of the sandbox that the suite can use: another user, another organisation, and so on. */
  known: Partial<Target>
  /** Restores the state before the run. */
  restore(): Promise<void>
}

/**
 * Connects to the control API of a sandbox; `token` is needed if other machines can reach it. Throws a UsageError if
 * the base URL is not that of a sandbox.
 */
export async function sandboxControl(
  http: HttpClient,
  { baseUrl, apiKey }: Pick<Target, 'baseUrl' | 'apiKey'>,
  token?: string,
): Promise<SandboxControl> {
  const base = `${baseUrl.replace(/(?<!\/)\/+$/, '')}${controlPath}`
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` }

  async function read(what: string): Promise<unknown> {
    const { status, body } = await http.send({ method: 'GET', url: base + what, headers })
    const answer = status === 200 ? parsed(body) : undefined
    if (answer !== undefined) return answer
    if (status === 401) {
      throw new UnauthenticatedError('the control token of the sandbox is missing or wrong', {
        hint: 'Set REFCHECK_SANDBOX_TOKEN to the control_token that "sandbox start" printed.',
      })
    }
    throw new UsageError(`${new URL(base).host} is not a sandbox that can be controlled`, {
      hint: 'Leave out --control, or start a sandbox with: refcheck sandbox start',
    })
  }

  async function send(what: string, order: unknown): Promise<void> {
    const { status, body } = await http.send({
      method: 'POST',
      url: base + what,
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: Buffer.from(JSON.stringify(order)),
    })
    if (status === 200) return
    const message = field(parsed(body), 'error', 'message')
    throw new UsageError(`the sandbox refused "${what}": ${String(message)}`)
  }

  const before = await read('snapshot')
  const state = await read('state')
  const isManual = field(state, 'clock') === 'manual'
  let good: unknown
  return {
    known: { ...knownOf(before, apiKey), quota: isManual ? windowsOf(state) : undefined },
    advance: isManual ? (ms) => send('advance', { ms }) : undefined,
    pointWebhook: (url) => send('webhook', { url }),
    // An expired trial cannot be undone, so the good plan is restored from the state before.
    async setPlan(plan) {
      if (plan === 'good') return send('restore', good)
      good = await read('snapshot')
      return send('switch', { switch: switchOf[plan] })
    },
    deactivateUser: (email) => send('user', { email, active: false }),
    revokeKey: () => send('switch', { switch: 'revoke-key' }),
    failNextUsers: () =>
      send('inject', { on: 'GET /v1/users', fault: { kind: 'status', status: 500, when: 'before' } }),
    restore: () => send('restore', before),
  }
}

const switchOf: Record<Exclude<Plan, 'good'>, string> = {
  'no credits': 'no-credits',
  'trial expired': 'expire-trial',
  'subscription inactive': 'deactivate-subscription',
}

/** Returns users, keys and teams of the snapshot that the suite can use. */
function knownOf(snapshot: unknown, apiKey: string): Partial<Target> {
  const keys = entries(field(snapshot, 'keys'))
  const home = field(
    keys.find((each) => field(each, 'key') === apiKey),
    'organisation_id',
  )
  const emailOf = (organisation: unknown, is: Record<string, unknown>): string | undefined => {
    const wanted = Object.entries({ organisation_id: organisation, ...is })
    const user = entries(field(snapshot, 'users')).find((each) =>
      wanted.every(([name, value]) => field(each, name) === value),
    )
    const email = field(user, 'email')
    return typeof email === 'string' ? email : undefined
  }
  const other = keys.find(
    (each) => field(each, 'organisation_id') !== home && field(each, 'revoked') === false,
  )
  const otherKey = field(other, 'key')
  const otherEmail = emailOf(field(other, 'organisation_id'), { active: true })
  // If the rules let the role support create requests, all users may create them.
  const isRestricted = field(snapshot, 'settings', 'rules', 'support-creates') === 'no'
  return {
    secondEmail: emailOf(home, { active: true, role: 'member' }),
    foreignUser:
      typeof otherKey === 'string' && otherEmail !== undefined
        ? { apiKey: otherKey, userEmail: otherEmail }
        : undefined,
    recipients: {
      cancelled: 'conformance+declined@example.com',
      error: 'conformance+error@example.com',
      mixed: 'conformance+mixed@example.com',
    },
    inactiveTeams: entries(field(snapshot, 'teams'))
      .filter((team) => field(team, 'organisation_id') === home && field(team, 'active') === false)
      .map((team) => String(field(team, 'id'))),
    noCreateEmail: isRestricted ? emailOf(home, { active: true, role: 'support' }) : undefined,
    inactiveEmail: emailOf(home, { active: false }),
  }
}

const windowsOf = (state: unknown): Target['quota'] =>
  entries(field(state, 'quota')).map((each) => ({
    calls: Number(field(each, 'calls')),
    seconds: Number(field(each, 'seconds')),
  }))

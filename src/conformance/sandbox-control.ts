import { entries, field } from './answer.ts'
import { UnauthenticatedError, UsageError } from '../errors/kinds.ts'
import type { HttpClient } from '../http/client.ts'
import type { Control, Identity, Plan, QuotaWindow, Target } from './target.ts'

/** Where a sandbox is controlled; its own name for it is compared by a test. */
export const controlPath = '/_sandbox/'

/** A hand on a sandbox of this machine. */
export interface SandboxControl extends Control {
  /** What else the suite can use of it: another user, another organisation, and so on. */
  known: Pick<
    Target,
    | 'secondEmail'
    | 'foreignUser'
    | 'recipients'
    | 'inactiveTeams'
    | 'quota'
    | 'noCreateEmail'
    | 'inactiveEmail'
  >
  /** Puts everything back as it was found. */
  restore(): Promise<void>
}

/** `token`: of a sandbox that others can reach. Throws UsageError where the base URL is not that of a sandbox. */
export async function sandboxControl(
  http: HttpClient,
  { baseUrl, apiKey }: Pick<Target, 'baseUrl' | 'apiKey'>,
  token?: string,
): Promise<SandboxControl> {
  const control = new ControlClient(http, `${baseUrl.replace(/(?<!\/)\/+$/, '')}${controlPath}`, token)
  const before = await control.read('snapshot')
  const state = await control.read('state')
  const manual = field(state, 'clock') === 'manual'
  let good: unknown
  return {
    known: {
      secondEmail: memberOf(before, apiKey),
      foreignUser: otherOrganisationThan(before, apiKey),
      recipients: {
        cancelled: 'conformance+declined@example.com',
        error: 'conformance+error@example.com',
        mixed: 'conformance+mixed@example.com',
      },
      inactiveTeams: inactiveTeamsOf(before, apiKey),
      noCreateEmail: mayNotCreate(before, apiKey),
      inactiveEmail: userOf(
        before,
        organisationOf(before, apiKey),
        (user) => field(user, 'active') === false,
      ),
      quota: manual ? windowsOf(state) : undefined,
    },
    advance: manual ? (ms) => control.send('advance', { ms }) : undefined,
    pointWebhook: (url) => control.send('webhook', { url }),
    // An expired trial cannot be taken back, so the good plan is what stood before the bad one.
    async setPlan(plan) {
      if (plan === 'good') return control.send('restore', good)
      good = await control.read('snapshot')
      return control.send('switch', { switch: switchOf[plan] })
    },
    deactivateUser: (email) => control.send('user', { email, active: false }),
    revokeKey: () => control.send('switch', { switch: 'revoke-key' }),
    failNextUsers: () =>
      control.send('inject', {
        on: 'GET /v1/users',
        fault: { kind: 'status', status: 500, when: 'before' },
      }),
    restore: () => control.send('restore', before),
  }
}

const switchOf: Record<Exclude<Plan, 'good'>, string> = {
  'no credits': 'no-credits',
  'trial expired': 'expire-trial',
  'subscription inactive': 'deactivate-subscription',
}

/** Where a sandbox takes its orders. */
class ControlClient {
  readonly #http: HttpClient
  readonly #base: string
  readonly #headers: Record<string, string>

  constructor(http: HttpClient, base: string, token: string | undefined) {
    this.#http = http
    this.#base = base
    this.#headers = token === undefined ? {} : { Authorization: `Bearer ${token}` }
  }

  async read(what: string): Promise<unknown> {
    const { status, body } = await this.#http.send({
      method: 'GET',
      url: this.#base + what,
      headers: this.#headers,
    })
    const answer = status === 200 ? parsed(body) : undefined
    if (answer !== undefined) return answer
    if (status === 401) {
      throw new UnauthenticatedError('the control token of the sandbox is missing or wrong', {
        hint: 'Set REFCHECK_SANDBOX_TOKEN to the control_token that "sandbox start" printed.',
      })
    }
    throw new UsageError(`${new URL(this.#base).host} is not a sandbox that can be controlled`, {
      hint: 'Leave out --control, or start a sandbox with: refcheck sandbox start',
    })
  }

  async send(what: string, order: unknown): Promise<void> {
    const { status, body } = await this.#http.send({
      method: 'POST',
      url: this.#base + what,
      headers: { ...this.#headers, 'Content-Type': 'application/json' },
      body: Buffer.from(JSON.stringify(order)),
    })
    if (status === 200) return
    const message = field(parsed(body), 'error', 'message')
    throw new UsageError(`the sandbox refused "${what}": ${String(message)}`)
  }
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown
  } catch {
    return undefined
  }
}

function organisationOf(snapshot: unknown, apiKey: string): unknown {
  const own = entries(field(snapshot, 'keys')).find((each) => field(each, 'key') === apiKey)
  return field(own, 'organisation_id')
}

function userOf(
  snapshot: unknown,
  organisation: unknown,
  suits: (user: unknown) => boolean,
): string | undefined {
  const found = entries(field(snapshot, 'users')).find(
    (user) => field(user, 'organisation_id') === organisation && suits(user),
  )
  const email = field(found, 'email')
  return typeof email === 'string' ? email : undefined
}

function activeUserOf(
  snapshot: unknown,
  organisation: unknown,
  suits: (user: unknown) => boolean,
): string | undefined {
  return userOf(snapshot, organisation, (user) => field(user, 'active') === true && suits(user))
}

/** Where the sandbox's rules let the role support create requests, every user may. */
function mayNotCreate(snapshot: unknown, apiKey: string): string | undefined {
  if (field(snapshot, 'settings', 'rules', 'support-creates') !== 'no') return undefined
  return activeUserOf(snapshot, organisationOf(snapshot, apiKey), (user) => field(user, 'role') === 'support')
}

const memberOf = (snapshot: unknown, apiKey: string): string | undefined =>
  activeUserOf(snapshot, organisationOf(snapshot, apiKey), (user) => field(user, 'role') === 'member')

function otherOrganisationThan(snapshot: unknown, apiKey: string): Identity | undefined {
  const home = organisationOf(snapshot, apiKey)
  const other = entries(field(snapshot, 'keys')).find(
    (each) => field(each, 'organisation_id') !== home && field(each, 'revoked') === false,
  )
  const key = field(other, 'key')
  const email = activeUserOf(snapshot, field(other, 'organisation_id'), () => true)
  return typeof key === 'string' && email !== undefined ? { apiKey: key, userEmail: email } : undefined
}

function inactiveTeamsOf(snapshot: unknown, apiKey: string): string[] {
  const home = organisationOf(snapshot, apiKey)
  return entries(field(snapshot, 'teams'))
    .filter((team) => field(team, 'organisation_id') === home && field(team, 'active') === false)
    .map((team) => String(field(team, 'id')))
}

function windowsOf(state: unknown): QuotaWindow[] {
  return entries(field(state, 'quota')).map((each) => ({
    calls: Number(field(each, 'calls')),
    seconds: Number(field(each, 'seconds')),
  }))
}

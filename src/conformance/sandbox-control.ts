import { UnauthenticatedError, UsageError } from '../errors/kinds.ts'
import type { HttpClient } from '../http/client.ts'
import { type Fields, fieldsOf, toItems, readValue, parseBody } from './answer.ts'
import type { Control, Plan, Target } from './target.ts'

/**
 * Path of a sandbox's control API. A test compares it with the same constant of the sandbox, which is not imported
 * here.
 */
export const controlPath = '/_sandbox/'

/** Controls a sandbox of this machine. */
export interface SandboxControl extends Control {
  /** The data of the sandbox that the suite can use: another user, another organisation, and so on. */
  knownTarget: Partial<Target>
  /** Restores the state before the run. */
  restore(): Promise<void>
}

/**
 * Connects to the control API of a sandbox. `token` is needed if other machines can reach the sandbox. Throws
 * a UsageError if the base URL is not a sandbox's.
 */
export async function connectToSandbox(
  http: HttpClient,
  { baseUrl, apiKey }: Pick<Target, 'baseUrl' | 'apiKey'>,
  token?: string,
): Promise<SandboxControl> {
  const controlUrl = `${baseUrl.replace(/(?<!\/)\/+$/, '')}${controlPath}`
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` }

  async function read(control: string): Promise<unknown> {
    const { status, body } = await http.send({ method: 'GET', url: controlUrl + control, headers })
    const answer = status === 200 ? parseBody(body) : undefined
    if (answer !== undefined) return answer
    if (status === 401) {
      throw new UnauthenticatedError('the control token of the sandbox is missing or wrong', {
        hint: 'Set REFCHECK_SANDBOX_TOKEN to the control_token that "sandbox start" printed.',
      })
    }
    throw new UsageError(`${new URL(controlUrl).host} is not a sandbox that can be controlled`, {
      hint: 'Leave out --control, or start a sandbox with: refcheck sandbox start',
    })
  }

  async function send(control: string, bodyToSend: unknown): Promise<void> {
    const { status, body } = await http.send({
      method: 'POST',
      url: controlUrl + control,
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: Buffer.from(JSON.stringify(bodyToSend)),
    })
    if (status === 200) return
    const message = readValue(parseBody(body), 'error', 'message')
    throw new UsageError(`the sandbox refused "${control}": ${String(message)}`)
  }

  const initialSnapshot = await read('snapshot')
  const state = await read('state')
  const isManual = readValue(state, 'clock') === 'manual'
  let goodSnapshot: unknown
  return {
    knownTarget: {
      ...findKnownTarget(initialSnapshot, apiKey),
      quota: isManual ? readWindows(state) : undefined,
    },
    advance: isManual ? (ms) => send('advance', { ms }) : undefined,
    setWebhookUrl: (url) => send('webhook', { url }),
    // An expired trial cannot be undone, so the good plan is restored from a snapshot made before the change.
    async setPlan(plan) {
      if (plan === 'good') return send('restore', goodSnapshot)
      goodSnapshot = await read('snapshot')
      return send('switch', { switch: switchByPlan[plan] })
    },
    deactivateUser: (email) => send('user', { email, active: false }),
    revokeKey: () => send('switch', { switch: 'revoke-key' }),
    failNextUserList: () =>
      send('inject', { on: 'GET /v1/users', fault: { kind: 'status', status: 500, when: 'before' } }),
    restore: () => send('restore', initialSnapshot),
  }
}

const switchByPlan: Record<Exclude<Plan, 'good'>, string> = {
  'no credits': 'no-credits',
  'trial expired': 'expire-trial',
  'subscription inactive': 'deactivate-subscription',
}

/** Returns the users, keys and teams in the snapshot that the suite can use. */
function findKnownTarget(snapshot: unknown, apiKey: string): Partial<Target> {
  const { keys: keyList, users: userList, teams } = fieldsOf(snapshot)
  const [keys, users] = [toItems(keyList), toItems(userList)]
  const ownOrganisation = keys.find(({ key }) => key === apiKey)?.organisation_id
  const findEmail = (organisation: unknown, isWanted: (user: Fields) => boolean): string | undefined => {
    const user = users.find((each) => each.organisation_id === organisation && isWanted(each))
    return typeof user?.email === 'string' ? user.email : undefined
  }
  const foreignKey = keys.find((each) => each.organisation_id !== ownOrganisation && each.revoked === false)
  const foreignEmail = findEmail(foreignKey?.organisation_id, ({ active }) => active === true)
  // If the rules let the role support create requests, all users may create them.
  const isRestricted = readValue(snapshot, 'settings', 'rules', 'support-creates') === 'no'
  return {
    secondEmail: findEmail(ownOrganisation, ({ active, role }) => active === true && role === 'member'),
    foreignUser:
      typeof foreignKey?.key === 'string' && foreignEmail !== undefined
        ? { apiKey: foreignKey.key, userEmail: foreignEmail }
        : undefined,
    recipients: {
      cancelled: 'conformance+declined@example.com',
      error: 'conformance+error@example.com',
      mixed: 'conformance+mixed@example.com',
    },
    inactiveTeams: toItems(teams)
      .filter((team) => team.organisation_id === ownOrganisation && team.active === false)
      .map(({ id }) => String(id)),
    noCreateEmail: isRestricted
      ? findEmail(ownOrganisation, ({ active, role }) => active === true && role === 'support')
      : undefined,
    inactiveEmail: findEmail(ownOrganisation, ({ active }) => active === false),
  }
}

const readWindows = (state: unknown): Target['quota'] =>
  toItems(readValue(state, 'quota')).map(({ calls, seconds }) => ({
    calls: Number(calls),
    seconds: Number(seconds),
  }))

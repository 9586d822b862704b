import type { Api } from '../../api/api.ts'
import type { Remark } from '../../domain/doctor/finding.ts'
import { maskKey } from '../../domain/session/session.ts'
import { UnavailableError } from '../../errors/kinds.ts'
import type { Check } from './machine.ts'
import type { Clock } from '../../host/clock.ts'
import type { Environment } from '../../host/env.ts'
import type { Governor } from '../quota/governor.ts'
import { fromEnvironment } from '../session/chosen-profile.ts'
import type { Connect } from '../session/login.ts'
import { resolveBaseUrl, resolveSession, type SessionSources } from '../session/resolve.ts'
import { sessionStatus } from '../session/status.ts'

export interface ServiceParts {
  clock: Clock
  env: Environment
  sources: () => Promise<SessionSources>
  publicApi: () => Promise<Api>
  connect: Connect
  /** One ping, for the headers of its answer. */
  datedPing: (baseUrl: string) => Promise<{ date: string | undefined; milliseconds: number }>
  governor: () => Promise<Governor>
  signal: AbortSignal
}

/** A clock that is off by more than this, in ms, is worth a word: orders and answers are matched by time. */
const skewAllowed = 60_000

/** Who would call the service, and what it says to that. Two pings and one call. */
export function serviceChecks(parts: ServiceParts): Check[] {
  return [
    { name: 'profile', check: () => profile(parts) },
    { name: 'service', check: () => service(parts) },
    { name: 'clock', after: ['service'], check: () => skew(parts) },
    { name: 'key', after: ['profile', 'service'], check: () => key(parts) },
    { name: 'quota', after: ['profile'], check: () => quota(parts) },
  ]
}

const keyStorages = {
  keychain: 'the system keychain',
  file: 'a private file',
  environment: 'the environment',
}

async function profile(parts: ServiceParts): Promise<Remark> {
  const session = await resolveSession(await parts.sources())
  const { baseUrl, email, apiKey, keyFrom } = session
  const name =
    session.profile === undefined ? 'none; everything comes from the environment' : `"${session.profile}"`
  const message = `${name}: ${baseUrl} as ${email}, key ${maskKey(apiKey)} from ${keyStorages[keyFrom]}`
  const overruled = ['REFCHECK_BASE_URL', 'REFCHECK_API_KEY', 'REFCHECK_USER_EMAIL'].filter(
    (each) => session.profile !== undefined && fromEnvironment(parts.env, each) !== undefined,
  )
  if (overruled.length === 0) return { message }
  return {
    level: 'warn',
    message: `${message}; ${overruled.join(' and ')} ${overruled.length === 1 ? 'is' : 'are'} set as well`,
    hint: 'The environment overrides the profile, unless --profile is given. Unset it if that is unintended.',
  }
}

async function service({ publicApi, signal }: ServiceParts): Promise<Remark> {
  const api = await publicApi()
  const { latency_ms } = await api.ping(signal)
  return { message: `${api.baseUrl} answers in ${latency_ms} ms` }
}

async function skew({ sources, datedPing, clock }: ServiceParts): Promise<Remark | undefined> {
  const { date, milliseconds } = await datedPing(await resolveBaseUrl(await sources()))
  const serverTime = Date.parse(date ?? '')
  // The document does not promise the header.
  if (Number.isNaN(serverTime)) return undefined
  const ahead = clock.now() - milliseconds / 2 - serverTime
  const off = Math.round(Math.abs(ahead) / 1000)
  if (Math.abs(ahead) <= skewAllowed) return { message: `agrees with the service’s clock` }
  return {
    level: 'warn',
    message: `this machine’s clock is ${off} s ${ahead > 0 ? 'ahead of' : 'behind'} the service’s`,
    hint: 'Set it by the network (NTP): orders with an unknown outcome are recognised by their time.',
  }
}

async function key({ sources, connect, signal }: ServiceParts): Promise<Remark> {
  const { status, error } = await sessionStatus({ ...(await sources()), connect, signal })
  if (error !== undefined) throw error
  const { user } = status
  if (user === null) throw new UnavailableError('the service does not list this user')
  return { message: `works; ${user.email} is ${user.role}` }
}

async function quota({ governor, clock }: ServiceParts): Promise<Remark> {
  const { windows, notBefore } = await (await governor()).status()
  const left = windows.map((window) => `${window.left} of ${window.calls}`).join(' and ')
  const waitMs = notBefore - clock.now()
  if (waitMs <= 0) return { message: `${left} calls left, as far as this store knows` }
  return {
    level: 'warn',
    message: `used up for another ${Math.ceil(waitMs / 1000)} s`,
    hint: 'Commands wait for it by themselves.',
  }
}

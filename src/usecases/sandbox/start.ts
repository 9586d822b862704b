import type { Clock } from '../../host/clock.ts'
import { isLoopbackHost } from '../../contract/url.ts'
import { ManualClock } from '../../sandbox/control/manual-clock.ts'
import { parseNetworks, readFixture, parseRules } from '../../sandbox/control/read-inputs.ts'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../sandbox/control/embedded.ts'
import type { listen } from '../../server/listen.ts'
import type { QuotaWindow } from '../../domain/quota/windows.ts'
import { UsageError } from '../../errors/kinds.ts'
import type { Services } from '../services.ts'

export interface SandboxServices extends Pick<Services, 'clock' | 'random'> {
  listen: typeof listen
  /** Opens the file that stores the state. */
  openData: (path: string) => Promise<NonNullable<SandboxOptions['journal']>>
}

export interface SandboxServerOptions {
  /** Default: 127.0.0.1, or with `allowHttpFrom` every address. Any other host requires `tls` or `allowHttpFrom`. */
  host?: string | undefined
  /** Networks from which plain http is accepted, such as 172.16.0.0/12. */
  allowHttpFrom?: readonly string[] | undefined
  /** The base URL at which clients reach the sandbox through a proxy. */
  publicUrl?: string | undefined
  /** The token for the control interface if other machines can reach it; a random one by default. */
  controlToken?: string | undefined
  port: number
  /** PEM texts. */
  tls?: { cert: string; key: string } | undefined
  speed: number
  quota?: readonly QuotaWindow[] | undefined
  webhookUrl?: string | undefined
  seed?: string | undefined
  /** Absolute path of the file that stores the state; undefined to keep the state in memory. */
  data?: string | undefined
  /** Absolute path of a JSON or YAML fixture. */
  fixture?: string | undefined
  /** Whether the clock only moves with `sandbox advance`. */
  manualClock?: boolean | undefined
  /** Rules as `name=choice`; or the one value `seeded`, with which each rule is drawn from the seed. */
  rules?: readonly string[] | undefined
}

export interface SandboxAddress {
  base_url: string
  api_key: string
  user_email: string
  webhook_secret: string
  control_token?: string
  public_url?: string | undefined
}

/** A sandbox on a port of this machine. */
export interface SandboxServer {
  sandbox: Sandbox
  /** The URL without a slash at the end. */
  url: string
  /** The keys and URLs that clients need, and the token for the control interface. */
  address: SandboxAddress
  /** A warning if others can guess the keys. */
  warning: string | undefined
  close(): Promise<void>
}

const minTokenLength = 16
const minDistinctCharacters = 8
const guessableKeysWarning =
  'the keys of this sandbox follow from --seed, and others can reach it; leave out --seed for random ones'
/** The form of a seed that the sandbox has drawn at random. */
const drawnSeedPattern = /^[\da-f]{32}$/

/** Whether other machines can reach the sandbox. `remoteAccess`: how they do so through a proxy or over plain http. */
const isReachable = (host: string | undefined, remoteAccess: SandboxOptions['remoteAccess']): boolean =>
  remoteAccess !== undefined || (host !== undefined && !isLoopbackHost(host))

/** Creates a sandbox and starts its server. */
export async function startSandbox(
  services: SandboxServices,
  options: SandboxServerOptions,
): Promise<SandboxServer> {
  const { port, tls, speed, quota, webhookUrl, seed, data, fixture } = options
  const remoteAccess = resolveRemoteAccess(services, options)
  const host = resolveHost(options, remoteAccess)
  const clock: Clock = options.manualClock ? new ManualClock(services.clock.now()) : services.clock
  const sandbox = createSandbox({
    clock,
    speed,
    quota,
    webhookUrl,
    remoteAccess,
    seed,
    rules: parseRules(options.rules ?? []),
    fixture: fixture === undefined ? undefined : await readFixture(fixture),
    journal: data === undefined ? undefined : await services.openData(data),
  })
  try {
    const handleRequest = (request: Request, connection: Parameters<Sandbox['fetch']>[1]) =>
      sandbox.fetch(request, connection)
    const onError = (error: unknown) => sandbox.respondToFailure(error)
    const listener = await services.listen(handleRequest, { host, port, tls, onError })
    // Clients cannot call the wildcard address.
    const url = listener.url.replace(/\/\/(?:0\.0\.0\.0|\[::\]):/, '//localhost:')
    return {
      sandbox,
      url,
      address: createAddress(sandbox, url, remoteAccess),
      // A sandbox with stored data has the seed of its first start, which may differ from `seed`.
      warning:
        isReachable(host, remoteAccess) &&
        (seed !== undefined || !drawnSeedPattern.test(sandbox.overview().seed))
          ? guessableKeysWarning
          : undefined,
      async close() {
        await listener.close()
        sandbox.close()
      },
    }
  } catch (error) {
    sandbox.close()
    throw error
  }
}

function createAddress(
  sandbox: Sandbox,
  base_url: string,
  remoteAccess: SandboxOptions['remoteAccess'],
): SandboxAddress {
  const { apiKey: api_key, userEmail: user_email, webhookSecret: webhook_secret } = sandbox.credentials
  const address = { base_url, api_key, user_email, webhook_secret }
  return remoteAccess === undefined
    ? address
    : { ...address, control_token: remoteAccess.controlToken, public_url: remoteAccess.publicUrl }
}

function resolveRemoteAccess(
  { random }: SandboxServices,
  options: SandboxServerOptions,
): SandboxOptions['remoteAccess'] {
  const { allowHttpFrom = [], publicUrl, controlToken } = options
  if (allowHttpFrom.length === 0 && publicUrl === undefined) return undefined
  if (controlToken !== undefined && controlToken.length < minTokenLength) {
    throw new UsageError(`REFCHECK_SANDBOX_TOKEN is shorter than ${minTokenLength} characters`, {
      hint: 'Set a longer one, or unset it: a random control token is then printed.',
    })
  }
  if (controlToken !== undefined && new Set(controlToken).size < minDistinctCharacters) {
    throw new UsageError(
      `REFCHECK_SANDBOX_TOKEN has fewer than ${minDistinctCharacters} different characters`,
      {
        hint: 'Set a random one, or unset it: a random control token is then printed.',
      },
    )
  }
  return {
    networks: parseNetworks(allowHttpFrom, '--allow-http-from'),
    publicUrl: publicUrl === undefined ? undefined : parsePublicUrl(publicUrl),
    controlToken: controlToken ?? random.bytes(24).toString('base64url'),
  }
}

/**
 * Returns the base URL without a slash at the end. An http URL is allowed, because the proxy decides about
 * TLS.
 */
function parsePublicUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isBase =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    [url.username, url.password, url.search, url.hash].every((part) => part === '')
  if (!isBase) {
    throw new UsageError('--public-url: not the base URL of a proxy', {
      hint: 'Give a URL such as https://sandbox.ci.example.com',
    })
  }
  return url.href.replace(/(?<!\/)\/+$/, '')
}

/**
 * Returns the host to listen on. "HTTPS only; plain HTTP requests are rejected" (API document), except on
 * this machine and from networks that the user named.
 */
function resolveHost(
  { host, tls, allowHttpFrom = [] }: SandboxServerOptions,
  remoteAccess: SandboxOptions['remoteAccess'],
): string | undefined {
  if (allowHttpFrom.length > 0) return host ?? (remoteAccess?.networks.hasV6 === true ? '::' : '0.0.0.0')
  if (host === undefined || isLoopbackHost(host) || tls !== undefined) return host
  throw new UsageError(
    `--host: ${host} is reachable from other machines, and http is allowed on this machine only`,
    {
      hint: 'Add --tls-cert and --tls-key, or --allow-http-from NETWORK, or leave out --host.',
    },
  )
}

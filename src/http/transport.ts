import { Agent, type Dispatcher, EnvHttpProxyAgent } from 'undici'

import { UsageError } from '../errors/usage.ts'
import { type Environment, variable } from '../host/env.ts'
import { isLoopback } from '../host/loopback.ts'
import type { HttpLimits } from './types.ts'

/**
 * "HTTPS only; plain HTTP requests are rejected" ("What the service does"). Plain http stays on this
 * machine, so nothing is ever sent in clear text over a network.
 */
export function secureUrl(text: string): URL {
  if (!URL.canParse(text)) throw new UsageError(`"${text}" is not a URL`)
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') {
    throw new UsageError(`a URL with a user name in it is not called: ${url.host}`, {
      hint: 'Remove what stands before the @.',
    })
  }
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))) return url
  throw new UsageError(`${url.protocol}//${url.host} is not called: https is required`, {
    hint: 'Plain http is for this machine only (127.0.0.1, ::1, localhost).',
  })
}

/**
 * The ways out: straight, or through the proxy of the environment; loopback is never proxied. HTTP/2
 * is off, because undici replays a buffered POST after a GOAWAY.
 */
export class Transport {
  readonly #env: Environment
  #shared: { direct: Dispatcher; proxied: Dispatcher } | undefined

  constructor(env: Environment) {
    this.#env = env
  }

  /** Connections that are kept and used again: for reads. */
  shared(url: URL, limits: HttpLimits): Dispatcher {
    this.#shared ??= { direct: this.#direct(limits), proxied: this.#proxied(limits) }
    return isLoopback(url.hostname) ? this.#shared.direct : this.#shared.proxied
  }

  /** One connection that nobody used before; its caller destroys it. */
  fresh(url: URL, limits: HttpLimits): Dispatcher {
    return isLoopback(url.hostname) ? this.#direct(limits) : this.#proxied(limits)
  }

  async close(): Promise<void> {
    const shared = this.#shared
    this.#shared = undefined
    await Promise.all([shared?.direct.destroy(), shared?.proxied.destroy()])
  }

  #direct(limits: HttpLimits): Agent {
    return new Agent(settings(limits))
  }

  #proxied(limits: HttpLimits): EnvHttpProxyAgent {
    const both = (name: string): string =>
      variable(this.#env, name.toLowerCase()) ?? variable(this.#env, name) ?? ''
    return new EnvHttpProxyAgent({
      ...settings(limits),
      httpProxy: both('HTTP_PROXY'),
      httpsProxy: both('HTTPS_PROXY'),
      noProxy: both('NO_PROXY'),
    })
  }
}

function settings(limits: HttpLimits): Agent.Options {
  return { allowH2: false, pipelining: 1, connect: { timeout: limits.connectMs } }
}

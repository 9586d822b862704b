import { BlockList, isIP } from 'node:net'

import { isLoopbackHost } from '../../contract/loopback.ts'
import { UsageError } from '../../errors/kinds.ts'
import { failure } from './answer.ts'

/** Networks by their addresses, such as those of the containers of one host. */
export interface Networks {
  /** Whether one of them is of IPv6. */
  readonly hasV6: boolean
  /** Of this machine itself it is true as well. */
  has(address: string): boolean
}

/** Networks such as `172.16.0.0/12` or `fd00::/8`, or single addresses. Throws UsageError for what is none. */
export function networksOf(texts: readonly string[], source: string): Networks {
  const list = new BlockList()
  list.addSubnet('127.0.0.0', 8, 'ipv4')
  list.addAddress('::1', 'ipv6')
  let hasV6 = false
  for (const text of texts) {
    const [address = '', length, ...rest] = text.split('/')
    const version = isIP(address)
    const maxBits = version === 6 ? 128 : 32
    const bits = length === undefined ? maxBits : /^\d{1,3}$/.test(length) ? Number(length) : -1
    if (version === 0 || rest.length > 0 || bits < 0 || bits > maxBits) {
      throw new UsageError(`${source}: "${text.slice(0, 60)}" is not a network`, {
        hint: 'Give an address and the length of its prefix, such as 172.16.0.0/12.',
      })
    }
    list.addSubnet(address, bits, version === 6 ? 'ipv6' : 'ipv4')
    hasV6 ||= version === 6
  }
  return {
    hasV6,
    has(address) {
      const version = isIP(address)
      return version !== 0 && list.check(address, version === 6 ? 'ipv6' : 'ipv4')
    },
  }
}

/** How a sandbox is reached from beyond its machine. */
export interface Reach {
  /** From where plain http is taken, and where events may go by it. */
  networks: Networks
  /** The base URL of a proxy in front of it, no slash at the end: report URLs lead there. */
  publicUrl: string | undefined
  /** The token that controls it. */
  controlToken: string
}

/** "HTTPS only; plain HTTP requests are rejected", but for this machine's own address and what was named. */
export function clearTextRefusal(
  url: string,
  remoteAddress: string,
  reach: Reach | undefined,
): Response | undefined {
  if (!url.startsWith('http:')) return undefined
  if (reach === undefined) {
    if (url.startsWith('http://127.0.0.1:') || isLoopbackHost(new URL(url).hostname)) return undefined
  } else if (reach.networks.has(remoteAddress)) return undefined
  return failure(400, 'plain HTTP requests are rejected; use HTTPS')
}

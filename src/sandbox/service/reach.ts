import { isLoopbackHost } from '../../contract/loopback.ts'
import { failure } from './answer.ts'
import type { Networks } from './networks.ts'

/** How a sandbox is reached from beyond its machine. */
export interface Reach {
  /** From where plain http is taken, and where events may go by it. */
  networks: Networks
  /** The base URL of a proxy in front of it, no slash at the end: report URLs lead there. */
  publicUrl: string | undefined
  /** What whoever controls it has to show. */
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

import { hash, timingSafeEqual } from 'node:crypto'

import { isLoopbackHost } from '../../contract/loopback.ts'
import type { Connection } from '../../server/listen.ts'
import { clearTextRefusal, type Reach } from '../service/reach.ts'

/** Why somebody may not control a sandbox: a status, and an `error` as the control tells it. */
export interface ControlRefusal {
  status: 400 | 401 | 403
  error: { code: string; message: string; hint?: string }
}

const foreign: ControlRefusal = {
  status: 403,
  error: { code: 'forbidden', message: 'a sandbox is controlled from its own machine only' },
}

/**
 * Undefined where the call may control the sandbox: from its own machine and no foreign page; where others can reach
 * it, whoever shows the token, a program as a bearer and a browser as a password.
 */
export function controlRefusal(
  request: Request,
  { remoteAddress }: Connection,
  reach: Reach | undefined,
): ControlRefusal | undefined {
  const url = new URL(request.url)
  const origin = request.headers.get('Origin')
  if (reach === undefined) {
    const local = isLoopbackHost(remoteAddress.replace(/^::ffff:/, '')) && isLoopbackHost(url.hostname)
    return !local || (origin !== null && origin !== url.origin) ? foreign : undefined
  }
  const own = [url.origin, reach.publicUrl === undefined ? url.origin : new URL(reach.publicUrl).origin]
  if (origin !== null && !own.includes(origin)) return foreign
  if (clearTextRefusal(request.url, remoteAddress, reach) !== undefined) {
    return { status: 400, error: { code: 'usage', message: 'plain HTTP requests are rejected; use HTTPS' } }
  }
  if (isToken(shown(request.headers.get('Authorization')), reach.controlToken)) return undefined
  return {
    status: 401,
    error: {
      code: 'unauthenticated',
      message: 'the control token of the sandbox is missing or wrong',
      hint: 'Set REFCHECK_SANDBOX_TOKEN to the control_token that "sandbox start" printed.',
    },
  }
}

function shown(authorization: string | null): string {
  const [, scheme = '', credentials = ''] = /^(bearer|basic) +(\S+)$/i.exec(authorization ?? '') ?? []
  if (scheme.toLowerCase() !== 'basic') return credentials
  return Buffer.from(credentials, 'base64')
    .toString('utf8')
    .replace(/^[^:]*:/, '')
}

function isToken(given: string, token: string): boolean {
  const digest = (text: string): Buffer => hash('sha256', text, 'buffer')
  return timingSafeEqual(digest(given), digest(token))
}

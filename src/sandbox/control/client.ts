import { NotFoundError, UnauthenticatedError, UsageError } from '../../errors/kinds.ts'
import type { HttpClient } from '../../http/client.ts'

/** A running sandbox, as its control API is called from another process. */
export interface RunningSandbox {
  /** What it reports of itself: `state`, `rules`, `scenarios`, `snapshot` … */
  read(what: string, signal?: AbortSignal): Promise<unknown>
  /** Has it do something; what it answers. Throws UsageError with its words where it refuses. */
  send(what: string, order: unknown): Promise<unknown>
}

/** A snapshot of a hundred thousand requests is large, and an advance by a month takes its time. */
const limits = { maxBytes: 512 * 1024 * 1024, idleMs: 600_000, totalMs: 600_000 }

/** `baseUrl` without a trailing slash; `token` for a sandbox that others can reach. Nothing is called yet. */
export function runningSandbox(http: HttpClient, baseUrl: string, token: string | undefined): RunningSandbox {
  const shown = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const url = (what: string): string => `${baseUrl}${controlPath}${what}`
  const answerOf = ({ status, body }: { status: number; body: Buffer }): unknown => {
    const answer = parsed(body)
    if (status === 200 && answer !== undefined) return answer
    const error = (answer as { error?: { message?: unknown; hint?: unknown } } | undefined)?.error
    if (typeof error?.message !== 'string') {
      throw new NotFoundError(`${new URL(baseUrl).host} is not a sandbox that can be controlled`, {
        hint: 'Name another with --base-url, or start one with: refcheck sandbox start --login',
      })
    }
    const Kind = status === 401 ? UnauthenticatedError : UsageError
    throw new Kind(error.message, {
      hint: typeof error.hint === 'string' ? error.hint : 'See its commands with: refcheck help sandbox',
    })
  }
  return {
    read: async (what, signal) =>
      answerOf(await http.send({ method: 'GET', url: url(what), headers: shown, limits, signal })),
    send: async (what, order) =>
      answerOf(
        await http.send({
          method: 'POST',
          url: url(what),
          headers: { ...shown, 'content-type': 'application/json' },
          body: Buffer.from(JSON.stringify(order)),
          limits,
        }),
      ),
  }
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown
  } catch {
    return undefined
  }
}

/** Below this the sandbox itself is controlled; no part of the service. */
export const controlPath = '/_sandbox/'

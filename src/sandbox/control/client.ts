import { NotFoundError, UnauthenticatedError, UsageError } from '../../errors/kinds.ts'
import type { HttpClient } from '../../http/client.ts'

/** Calls the control API of a sandbox that runs in another process. */
export interface RunningSandbox {
  /** Returns the response of a control by GET: `state`, `rules`, `scenarios`, `snapshot` … */
  read(control: string, signal?: AbortSignal): Promise<unknown>
  /**
   * Posts a body to a control and returns the response. Throws a UsageError with the sandbox's message if the sandbox
   * refuses it.
   */
  send(control: string, body: unknown): Promise<unknown>
}

/**
 * Limits of calls; a snapshot of a hundred thousand requests is large, and advancing the clock by a month takes long.
 */
const limits = { maxBytes: 512 * 1024 * 1024, idleMs: 600_000, totalMs: 600_000 }

/**
 * Returns the client of a sandbox without calling it. `baseUrl` has no slash at the end; `token` is for a sandbox
 * that other machines can reach.
 */
export function connectToSandbox(
  http: HttpClient,
  baseUrl: string,
  token: string | undefined,
): RunningSandbox {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const toUrl = (control: string): string => `${baseUrl}${controlPath}${control}`
  const requireAnswer = ({ status, body }: { status: number; body: Buffer }): unknown => {
    const answer = parseOrUndefined(body)
    if (status === 200 && answer !== undefined) return answer
    const error = (answer as { error?: { message?: unknown; hint?: unknown } } | undefined)?.error
    if (typeof error?.message !== 'string') {
      throw new NotFoundError(`${new URL(baseUrl).host} is not a sandbox that can be controlled`, {
        hint: 'Name another with --base-url, or start one with: refcheck sandbox start --login',
      })
    }
    const ErrorType = status === 401 ? UnauthenticatedError : UsageError
    throw new ErrorType(error.message, {
      hint: typeof error.hint === 'string' ? error.hint : 'See its commands with: refcheck help sandbox',
    })
  }
  return {
    read: async (control, signal) =>
      requireAnswer(await http.send({ method: 'GET', url: toUrl(control), headers, limits, signal })),
    send: async (control, body) =>
      requireAnswer(
        await http.send({
          method: 'POST',
          url: toUrl(control),
          headers: { ...headers, 'content-type': 'application/json' },
          body: Buffer.from(JSON.stringify(body)),
          limits,
        }),
      ),
  }
}

function parseOrUndefined(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown
  } catch {
    return undefined
  }
}

/** Start of the paths of the control API, which is not part of the service. */
export const controlPath = '/_sandbox/'

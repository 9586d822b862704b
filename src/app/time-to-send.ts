import { UnauthenticatedError } from '../errors/kinds.ts'
import { variable } from '../host/env.ts'
import type { App } from './app.ts'

/** Seconds until so many more are sent, by the quota: of the key in use where it is of that service, else of any key. */
export async function timeToSend(app: App, baseUrl: string): Promise<(creates: number) => Promise<number>> {
  const own = await app.services('session').catch((error: unknown) => {
    if (error instanceof UnauthenticatedError) return undefined
    throw error
  })
  if (own?.session.baseUrl !== baseUrl) {
    const [{ secondsForCreates }, { emptyBook }, { windowsFor }] = await Promise.all([
      import('../domain/quota/book.ts'),
      import('../domain/quota/book.ts'),
      import('../domain/quota/windows.ts'),
    ])
    const { clock, env } = app.context
    const windows = windowsFor(baseUrl, variable(env, 'REFCHECK_QUOTA'))
    return async (creates) => secondsForCreates(emptyBook(windows), creates, clock.now())
  }
  const { governor } = await app.services('governor')
  return async (creates) => {
    // Others run the batch: what they have used is in the store.
    await governor.status()
    return governor.secondsFor(creates)
  }
}

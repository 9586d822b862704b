import type { Context } from './context.ts'
import { parseBaseUrl } from '../domain/session/session.ts'
import { variable } from '../host/env.ts'
import { processId } from '../host/process.ts'
import type { RunningSandbox } from '../sandbox/control/client.ts'
import type { SandboxServices } from '../usecases/sandbox/start.ts'
import { resolveBaseUrl } from '../usecases/session/resolve.ts'
import type { App } from './app.ts'

/** A sandbox that runs in another process: of the profile, or at the base URL of a flag. */
export async function runningSandbox(app: App, baseUrl: string | undefined): Promise<RunningSandbox> {
  const { runningSandbox: connect } = await import('../sandbox/control/client.ts')
  const base =
    baseUrl === undefined
      ? await resolveBaseUrl(await app.services('settings', 'env', 'profile'))
      : parseBaseUrl(baseUrl, '--base-url')
  return connect((await app.services('http')).http, base, controlToken(app.context))
}

/** What controls a sandbox that others can reach, if the environment names it. */
export const controlToken = ({ env }: Pick<Context, 'env'>): string | undefined =>
  variable(env, 'REFCHECK_SANDBOX_TOKEN')

/** What a sandbox of this process needs. */
export async function sandboxServices({ clock, random }: Context): Promise<SandboxServices> {
  const { listen } = await import('../server/listen.ts')
  return {
    clock,
    random,
    listen,
    // Loaded where state is kept: its lock costs start-up.
    async openData(path) {
      const { openJournal } = await import('../sandbox/service/journal.ts')
      return openJournal(path, { clock, random, pid: processId() })
    },
  }
}

export { parseJson } from '../contract/parse-json.ts'

import { BaseCommand } from '../cli/base-command.ts'
import type { Context } from '../cli/context.ts'
import type { Command } from '../cli/oclif.ts'
import { parseBaseUrl } from '../domain/session/session.ts'
import { UsageError } from '../errors/kinds.ts'
import { variable } from '../host/env.ts'
import { processId } from '../host/process-id.ts'
import type { RunningSandbox } from '../sandbox/control/client.ts'
import type { SandboxPorts } from '../usecases/sandbox/start.ts'
import { publicApi } from './api.ts'
import { http } from './http.ts'
import { parseJson } from '../contract/parse-json.ts'

/** A command that steers a sandbox running in another process. */
export abstract class SandboxCommand<T extends typeof Command> extends BaseCommand<T> {
  protected async running(baseUrl: string | undefined): Promise<RunningSandbox> {
    const { runningSandbox } = await import('../sandbox/control/client.ts')
    const base =
      baseUrl === undefined ? (await publicApi(this.scope)).baseUrl : parseBaseUrl(baseUrl, '--base-url')
    return runningSandbox(await http(this.scope), base, controlToken(this.context))
  }

  /** JSON that somebody typed or saved; a UsageError with `hint` where it is none. */
  protected json(text: string, what: string, hint: string): unknown {
    try {
      return parseJson(text)
    } catch {
      throw new UsageError(`${what} is not JSON`, { hint })
    }
  }
}

/** What controls a sandbox that others can reach, if the environment names it. */
export const controlToken = ({ env }: Pick<Context, 'env'>): string | undefined =>
  variable(env, 'REFCHECK_SANDBOX_TOKEN')

/** What a sandbox of this process needs. */
export async function sandboxPorts({ clock, random }: Context): Promise<SandboxPorts> {
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

import { BaseCommand } from '../cli/base-command.ts'
import type { Command } from '../cli/oclif.ts'
import { parseBaseUrl } from '../domain/session/base-url.ts'
import { UsageError } from '../errors/kinds.ts'
import type { RunningSandbox } from '../sandbox/control/client.ts'

/** A command that steers a sandbox running in another process. */
export abstract class SandboxCommand<T extends typeof Command> extends BaseCommand<T> {
  protected async running(baseUrl: string | undefined): Promise<RunningSandbox> {
    const { runningSandbox } = await import('../sandbox/control/client.ts')
    const base =
      baseUrl === undefined ? (await this.services.publicApi()).baseUrl : parseBaseUrl(baseUrl, '--base-url')
    return runningSandbox(await this.services.http(), base)
  }

  /** JSON that somebody typed or saved; a UsageError with `hint` where it is none. */
  protected json(text: string, what: string, hint: string): unknown {
    try {
      return JSON.parse(text) as unknown
    } catch {
      throw new UsageError(`${what} is not JSON`, { hint })
    }
  }
}

import { parseJson, runningSandbox } from '../app/sandbox.ts'
import { UsageError } from '../errors/kinds.ts'
import { BaseCommand } from './base-command.ts'
import type { Command } from './oclif.ts'

/** A command that steers a sandbox running in another process. */
export abstract class SandboxCommand<T extends typeof Command> extends BaseCommand<T> {
  protected running(baseUrl: string | undefined): ReturnType<typeof runningSandbox> {
    return runningSandbox(this.app, baseUrl)
  }

  /** JSON that was typed or read from a file; a UsageError with `hint` where it is invalid. */
  protected json(text: string, what: string, hint: string): unknown {
    try {
      return parseJson(text)
    } catch {
      throw new UsageError(`${what} is not JSON`, { hint })
    }
  }
}

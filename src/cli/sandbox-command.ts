import { parseJson, connectToRunningSandbox } from '../app/sandbox.ts'
import { UsageError } from '../errors/kinds.ts'
import { BaseCommand } from './base-command.ts'
import type { Command } from './oclif.ts'

/** Base class of commands that control a sandbox in another process. */
export abstract class SandboxCommand<T extends typeof Command> extends BaseCommand<T> {
  protected connect(baseUrl: string | undefined): ReturnType<typeof connectToRunningSandbox> {
    return connectToRunningSandbox(this.app, baseUrl)
  }

  /** Parses JSON that was typed or read from a file. Throws a UsageError with `hint` if it is invalid. */
  protected parseJson(text: string, what: string, hint: string): unknown {
    try {
      return parseJson(text)
    } catch {
      throw new UsageError(`${what} is not JSON`, { hint })
    }
  }
}

import { EmbeddedSandbox } from './embedded.ts'
import type { Sandbox, SandboxOptions } from './sandbox.ts'

export type { Sandbox, SandboxOptions } from './sandbox.ts'

/** The whole service of the document, in this process. Data that it cannot go on from is let go of again. */
export function createSandbox(options: SandboxOptions): Sandbox {
  try {
    return new EmbeddedSandbox(options)
  } catch (error) {
    options.data?.close()
    throw error
  }
}

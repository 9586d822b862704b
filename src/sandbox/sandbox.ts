import { EmbeddedSandbox } from './embedded.ts'
import type { Sandbox, SandboxOptions } from './types.ts'

export type { Sandbox, SandboxOptions } from './types.ts'

/** The whole service of the document, in this process. */
export function createSandbox(options: SandboxOptions): Sandbox {
  return new EmbeddedSandbox(options)
}

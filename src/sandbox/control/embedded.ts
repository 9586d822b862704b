import { Sandbox, type SandboxOptions } from './sandbox.ts'

export type { Sandbox, SandboxOptions } from './sandbox.ts'

/**
 * Creates the whole service of the API document in this process, with its web page and its control API. Closes the
 * journal of `options` if that fails.
 */
export function createSandbox(options: SandboxOptions): Sandbox {
  try {
    return new Sandbox(options)
  } catch (error) {
    options.journal?.close()
    throw error
  }
}

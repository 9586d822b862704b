import type { Connection } from '../../server/listen.ts'
import { noConnection, readPath } from '../service/gateway.ts'
import { controlPath } from './client.ts'
import { Sandbox, type SandboxOptions } from './sandbox.ts'

export type { StoryResult } from '../service/schemas.ts'
export type { Sandbox, SandboxOptions } from './sandbox.ts'

/** A sandbox that also serves its web page, its description and its control API. */
class ControlledSandbox extends Sandbox {
  override fetch(request: Request, connection: Connection = noConnection): Response | Promise<Response> {
    const path = readPath(request.url)
    if ((path === '/' && request.method === 'GET') || path.startsWith(controlPath))
      return import('./routes.ts').then(({ handleControl }) => handleControl(this, request, connection))
    if (path !== '/openapi.json') return super.fetch(request, connection)
    const baseUrl = this.remoteAccess?.publicUrl ?? new URL(request.url).origin
    return import('./openapi.ts').then(({ describeSandbox }) => describeSandbox(baseUrl))
  }
}

/**
 * Creates the whole service of the API document in this process, with its web page and its control API. Closes the
 * journal of `options` if that fails.
 */
export function createSandbox(options: SandboxOptions): Sandbox {
  try {
    return new ControlledSandbox(options)
  } catch (error) {
    options.journal?.close()
    throw error
  }
}

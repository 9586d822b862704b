import type { Connection } from '../../server/listen.ts'
import { readPath, type RemoteAccess } from '../service/gateway.ts'
import { controlPath } from './client.ts'
import { Sandbox, type SandboxOptions } from './sandbox.ts'

export type { Sandbox, SandboxOptions } from './sandbox.ts'

/**
 * Creates the whole service of the API document in this process, with its web page and its control API. Closes the
 * journal of `options` if that fails.
 */
export function createSandbox(options: SandboxOptions): Sandbox {
  const { journal, remoteAccess } = options
  try {
    return new Sandbox(options, (sandbox, request, connection) => {
      const path = readPath(request.url)
      const isPage = path === '/' && request.method === 'GET'
      if (isPage || path.startsWith(controlPath))
        return respondToControl(sandbox, request, connection, remoteAccess)
      return path === '/openapi.json' ? respondWithDescription(request, remoteAccess) : undefined
    })
  } catch (error) {
    journal?.close()
    throw error
  }
}

async function respondWithDescription(
  request: Request,
  remoteAccess: RemoteAccess | undefined,
): Promise<Response> {
  const { describeSandbox } = await import('./openapi.ts')
  return describeSandbox(remoteAccess?.publicUrl ?? new URL(request.url).origin)
}

async function respondToControl(
  sandbox: Sandbox,
  request: Request,
  connection: Connection,
  remoteAccess: RemoteAccess | undefined,
): Promise<Response> {
  const { handleControl } = await import('./routes.ts')
  return handleControl(sandbox, request, connection, remoteAccess)
}

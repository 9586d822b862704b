import { createSandbox, type Sandbox } from '../sandbox/sandbox.ts'
import { listen } from '../server/listen.ts'
import type { QuotaWindow } from '../domain/quota/windows.ts'
import type { Context } from './context.ts'

export interface SandboxServerOptions {
  port: number
  speed: number
  quota?: readonly QuotaWindow[] | undefined
  webhookUrl?: string | undefined
  seed?: string | undefined
}

/** A sandbox on a port of this machine. */
export interface SandboxServer {
  sandbox: Sandbox
  /** No slash at the end. */
  url: string
  close(): Promise<void>
}

/** The sandbox and the server are made for each other here. */
export async function startSandbox(context: Context, options: SandboxServerOptions): Promise<SandboxServer> {
  const { speed, quota, webhookUrl, seed } = options
  const sandbox = createSandbox({ clock: context.clock, speed, quota, webhookUrl, seed })
  const listener = await listen((request, connection) => sandbox.fetch(request, connection), {
    port: options.port,
  })
  return {
    sandbox,
    url: listener.url,
    async close() {
      await listener.close()
      sandbox.close()
    },
  }
}

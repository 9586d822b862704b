import type { Clock } from '../../host/clock.ts'
import { isLoopbackHost } from '../../contract/loopback.ts'
import { ManualClock } from '../../sandbox/control/manual-clock.ts'
import { readFixture } from '../../sandbox/control/fixture-file.ts'
import { readRules } from '../../sandbox/control/read-rules.ts'
import { createSandbox, type Sandbox } from '../../sandbox/control/create-sandbox.ts'
import type { SandboxOptions } from '../../sandbox/control/sandbox.ts'
import type { listen } from '../../server/listen.ts'
import type { QuotaWindow } from '../../domain/quota/windows.ts'
import { UsageError } from '../../errors/kinds.ts'

export interface SandboxPorts {
  clock: Clock
  listen: typeof listen
  /** Opens the file that keeps the state. */
  openData: (path: string) => Promise<NonNullable<SandboxOptions['data']>>
}

export interface SandboxServerOptions {
  /** Default 127.0.0.1; any other address of this machine takes `tls`. */
  host?: string | undefined
  port: number
  /** PEM texts. */
  tls?: { cert: string; key: string } | undefined
  speed: number
  quota?: readonly QuotaWindow[] | undefined
  webhookUrl?: string | undefined
  seed?: string | undefined
  /** Absolute path of the file that keeps the state; in memory only where undefined. */
  data?: string | undefined
  /** Absolute path of a JSON or YAML fixture. */
  fixture?: string | undefined
  /** A clock that stands still until `sandbox advance` moves it. */
  manualClock?: boolean | undefined
  /** `name=choice`, or `seeded` alone. */
  rules?: readonly string[] | undefined
}

/** A sandbox on a port of this machine. */
export interface SandboxServer {
  sandbox: Sandbox
  /** No slash at the end. */
  url: string
  close(): Promise<void>
}

/** The sandbox and the server are made for each other here. */
export async function startSandbox(
  ports: SandboxPorts,
  options: SandboxServerOptions,
): Promise<SandboxServer> {
  const { host, port, tls, speed, quota, webhookUrl, seed, data, fixture } = options
  if (host !== undefined && !isLoopbackHost(host) && tls === undefined) {
    throw new UsageError(
      `--host: ${host} is reachable from other machines, and http is allowed on this machine only`,
      {
        hint: 'Add --tls-cert and --tls-key, or leave out --host.',
      },
    )
  }
  const clock: Clock = options.manualClock ? new ManualClock(ports.clock.now()) : ports.clock
  const sandbox = createSandbox({
    clock,
    speed,
    quota,
    webhookUrl,
    seed,
    rules: readRules(options.rules ?? []),
    fixture: fixture === undefined ? undefined : await readFixture(fixture),
    data: data === undefined ? undefined : await ports.openData(data),
  })
  try {
    const answer = (request: Request, connection: Parameters<Sandbox['fetch']>[1]) =>
      sandbox.fetch(request, connection)
    const onError = (error: unknown) => sandbox.refuse(error)
    const listener = await ports.listen(answer, { host, port, tls, onError })
    return {
      sandbox,
      // Every address of this machine is none that can be called.
      url: listener.url.replace(/\/\/(?:0\.0\.0\.0|\[::\]):/, '//localhost:'),
      async close() {
        await listener.close()
        sandbox.close()
      },
    }
  } catch (error) {
    sandbox.close()
    throw error
  }
}

import { readFileSync } from 'node:fs'
import { arch, hostname, release } from 'node:os'

/** What this machine calls itself. */
export function machineName(): string {
  return hostname()
}

/** Where Linux keeps an identifier of the installation (machine-id(5)). */
const idFiles = ['/etc/machine-id', '/var/lib/dbus/machine-id']

/** The identifier of this installation of the operating system; empty where it has none. */
export function machineId(): string {
  for (const path of idFiles) {
    try {
      return readFileSync(path, 'utf8').trim()
    } catch {
      // Other systems have no such file, and some containers neither.
    }
  }
  return ''
}

/** The version of Node that runs this, such as "24.21.0". */
export const nodeVersion = (): string => process.versions.node

/** Whether a file's mode determines who may read it; on Windows Node makes it up. */
export const hasFileModes = (platform: NodeJS.Platform = process.platform): boolean => platform !== 'win32'

/** What kind of machine this is; nothing of it identifies a person. */
export const machineKind = () => ({
  node: nodeVersion(),
  platform: process.platform,
  architecture: arch(),
  release: release(),
})

/**
 * Whether the name servers answer about `host` within `ms`, whatever they answer. The system's own lookup, once begun,
 * keeps the process until it is over.
 */
export async function isNameAnswered(host: string, ms: number): Promise<boolean> {
  const { isIP } = process.getBuiltinModule('node:net')
  if (isIP(host) !== 0 || host.startsWith('/') || host === 'localhost') return true
  const { getServers, promises } = process.getBuiltinModule('node:dns')
  const resolver = new promises.Resolver({ timeout: ms, tries: 1 })
  resolver.setServers(getServers())
  const timer = setTimeout(() => resolver.cancel(), ms)
  try {
    await resolver.resolve4(host)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code !== 'ETIMEOUT' && code !== 'ECANCELLED'
  } finally {
    clearTimeout(timer)
  }
}

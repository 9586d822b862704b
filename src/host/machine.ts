import { readFileSync } from 'node:fs'
import { arch, hostname, release } from 'node:os'

/** The hostname of this machine. */
export function machineName(): string {
  return hostname()
}

/** The files in which Linux stores an id of the installation (machine-id(5)). */
const idFiles = ['/etc/machine-id', '/var/lib/dbus/machine-id']

/** The id of this installation of the operating system; empty if there is none. */
export function machineId(): string {
  for (const path of idFiles) {
    try {
      return readFileSync(path, 'utf8').trim()
    } catch {
      // Other operating systems, and some containers, do not have these files.
    }
  }
  return ''
}

/** The version of Node that runs this process, such as "24.21.0". */
export const nodeVersion = (): string => process.versions.node

/**
 * Whether a file's mode determines which accounts can read it. On Windows, Node derives the mode from other attributes.
 */
export const hasFileModes = (platform: NodeJS.Platform = process.platform): boolean => platform !== 'win32'

/** Versions and the architecture of this machine. None of them identifies a person. */
export const machineDetails = () => ({
  node: nodeVersion(),
  platform: process.platform,
  architecture: arch(),
  release: release(),
})

/**
 * Whether the name servers respond to a query about `host` within `ms`, with any response. It does not use
 * `dns.lookup`, because a lookup that has begun cannot be cancelled and keeps the process alive.
 */
export async function canQueryDns(host: string, ms: number): Promise<boolean> {
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

import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'

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

import { hostname } from 'node:os'

/** What this machine calls itself. */
export function machineName(): string {
  return hostname()
}

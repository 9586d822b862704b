import { isIP } from 'node:net'

/**
 * Whether the name servers answer about `host` within `ms`, whatever they answer. The system's own lookup, once begun,
 * keeps the process until it is over.
 */
export async function isNameAnswered(host: string, ms: number): Promise<boolean> {
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

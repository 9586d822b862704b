import { isLoopbackUrl } from '../../contract/loopback.ts'
import { serviceOf } from './identity.ts'

/**
 * Whether two base URLs are one service; `unsaid` where only a person can tell. A rehearsal on this machine says nothing
 * of any other service, and is no other rehearsal.
 */
export function serviceRelation(
  one: string,
  other: string,
  isSameService: (service: string) => boolean | undefined,
): 'one' | 'other' | 'unsaid' {
  const service = serviceOf(other)
  if (serviceOf(one) === service) return 'one'
  if (isLoopbackUrl(one) || isLoopbackUrl(other)) return 'other'
  const said = isSameService(service)
  return said === undefined ? 'unsaid' : said ? 'one' : 'other'
}

import { UsageError } from '../../errors/kinds.ts'
import { isLoopbackUrl } from '../../contract/loopback.ts'

/** src/docs/cli.md, "Environment": a store that ends with the process prevents no second order. */
export function refuseMemoryStore(location: string, baseUrl: string): void {
  if (location !== ':memory:' || isLoopbackUrl(baseUrl)) return
  throw new UsageError('refused to order with a store in memory, which would forget the order', {
    hint: 'Set REFCHECK_STORE to a file, or unset it. ":memory:" is allowed for a service on this machine only.',
  })
}

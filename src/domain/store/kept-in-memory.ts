import { UsageError } from '../../errors/kinds.ts'
import { isLoopbackUrl } from '../../contract/loopback.ts'

/** cli-contract, "Environment": what is forgotten at the end of the process protects nobody. */
export function refuseForgetting(location: string, baseUrl: string): void {
  if (location !== ':memory:' || isLoopbackUrl(baseUrl)) return
  throw new UsageError('a store in memory would forget the order, so nothing is created with it', {
    hint: 'Set REFCHECK_STORE to a file, or unset it. ":memory:" is for a service on this machine only.',
  })
}

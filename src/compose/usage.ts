import { once, type Scope } from '../cli/scope.ts'
import { variable } from '../host/env.ts'
import { QuotaUsage } from '../usecases/quota/usage.ts'
import { governorOf } from './quota.ts'

/** What this command uses of the quota, counted at its end. */
export const usage = once((scope: Scope): QuotaUsage => {
  const counted = new QuotaUsage()
  scope.onSettle(async () => {
    // A store in memory would forget it again.
    if (variable(scope.context.env, 'REFCHECK_STORE') === ':memory:') return
    await counted.settle((baseUrl, apiKey) => governorOf(scope, baseUrl, apiKey))
  })
  return counted
})

import type { Scope } from '../cli/scope.ts'
import type { QuotaWindow } from '../domain/quota/windows.ts'
import { variable } from '../host/env.ts'
import type { Governor } from '../usecases/quota/governor.ts'
import { store } from './store.ts'

/** The service's windows, or those a sandbox was started with. */
export async function quotaWindows(scope: Scope, baseUrl: string): Promise<readonly QuotaWindow[]> {
  const { windowsFor } = await import('../domain/quota/windows.ts')
  return windowsFor(baseUrl, variable(scope.context.env, 'REFCHECK_QUOTA'))
}

/** Who may call next with a key. */
export async function governorOf(scope: Scope, baseUrl: string, apiKey: string): Promise<Governor> {
  const { governor } = await import('../usecases/quota/governor.ts')
  const windows = await quotaWindows(scope, baseUrl)
  const { quota } = await store(scope)
  const { clock } = scope.context
  return governor({ quota, account: quota.account(baseUrl, apiKey), windows, clock })
}

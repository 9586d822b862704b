import { join, resolve } from 'node:path'

import type { Scope } from '../cli/scope.ts'
import { UnauthenticatedError } from '../errors/kinds.ts'
import type { QuotaStanding } from '../output/views/quota.ts'
import type { OverviewPorts } from '../usecases/overview/read.ts'
import { governor } from './api.ts'
import { setting } from './session.ts'
import { inboxToShow, store } from './store.ts'

/** What reading all that a store knows needs. */
export async function overviewPorts(scope: Scope): Promise<OverviewPorts> {
  const inbox = await inboxToShow(scope)
  const { ledger, batches } = await store(scope)
  return { ledger, batches, inbox, clock: scope.context.clock, files: () => filesOfReports(scope) }
}

/** The windows of the key in use; undefined where nobody is logged in. */
export async function quotaInUse(scope: Scope): Promise<QuotaStanding | undefined> {
  try {
    return await (await governor(scope)).standing()
  } catch (error) {
    if (error instanceof UnauthenticatedError) return undefined
    throw error
  }
}

/** Reports by service and request, as the manifest of the folder that is set tells of them. */
async function filesOfReports(scope: Scope): Promise<ReadonlyMap<string, number> | undefined> {
  const folder = await setting(scope, 'output-dir')
  if (folder === undefined) return undefined
  const { manifestName, parseManifest } = await import('../domain/report/record.ts')
  const { readText } = await import('../store/reports/file.ts')
  const { requestKey } = await import('../domain/overview/overview.ts')
  const path = join(resolve(scope.context.cwd, folder), manifestName)
  const files = new Map<string, number>()
  const text = await readText(path)
  for (const { service, request_id: id } of text === undefined ? [] : parseManifest(text, path)) {
    const key = requestKey(service, id ?? '')
    files.set(key, (files.get(key) ?? 0) + 1)
  }
  return files
}

import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

import type { Scope } from '../cli/scope.ts'
import { UnauthenticatedError } from '../errors/kinds.ts'
import type { QuotaStanding } from '../output/views/quota.ts'
import type { OverviewPorts } from '../usecases/overview/read.ts'
import { governor } from './api.ts'
import { setting } from './session.ts'
import { store } from './store.ts'

/** What reading all that a store knows needs. */
export async function overviewPorts(scope: Scope): Promise<OverviewPorts> {
  const { ledger, batches, inbox } = await store(scope)
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

/** Reports by request, as the manifest of the folder that is set tells of them. */
async function filesOfReports(scope: Scope): Promise<ReadonlyMap<string, number> | undefined> {
  const folder = await setting(scope, 'output-dir')
  if (folder === undefined) return undefined
  const { manifestName, parseManifest } = await import('../domain/report/record.ts')
  const path = join(resolve(scope.context.cwd, folder), manifestName)
  const files = new Map<string, number>()
  if (!existsSync(path)) return files
  for (const { request_id: id } of parseManifest(readFileSync(path, 'utf8'), path))
    if (id !== null) files.set(id, (files.get(id) ?? 0) + 1)
  return files
}

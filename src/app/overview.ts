import { join, resolve } from 'node:path'

import type { App } from './app.ts'
import { UnauthenticatedError } from '../errors/kinds.ts'
import type { QuotaStatus } from '../output/views/overview.ts'

/** The windows of the key in use; undefined where nobody is logged in. */
export async function quotaInUse(app: App): Promise<QuotaStatus | undefined> {
  try {
    return await (await app.services('governor')).governor.standing()
  } catch (error) {
    if (error instanceof UnauthenticatedError) return undefined
    throw error
  }
}

/** Reports by service and request, as the manifest of the folder that is set tells of them. */
export async function filesOfReports(app: App): Promise<ReadonlyMap<string, number> | undefined> {
  const folder = await app.setting('output-dir')
  if (folder === undefined) return undefined
  const { manifestName, parseManifest } = await import('../domain/report/record.ts')
  const { readText } = await import('../store/reports/file.ts')
  const { requestKey } = await import('../domain/overview/overview.ts')
  const path = join(resolve(app.context.cwd, folder), manifestName)
  const files = new Map<string, number>()
  const text = await readText(path)
  for (const { service, request_id: id } of text === undefined ? [] : parseManifest(text, path)) {
    const key = requestKey(service, id ?? '')
    files.set(key, (files.get(key) ?? 0) + 1)
  }
  return files
}

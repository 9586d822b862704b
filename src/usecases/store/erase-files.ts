import { lstat, rm } from 'node:fs/promises'

import { findFolderWeakness } from '../../disk/ownership.ts'
import type { FilesToErase } from '../../domain/store/types.ts'
import type { Services } from '../services.ts'

/** Erases files; a call may be repeated. Returns the paths that could not be removed safely. */
export async function eraseFiles(
  {
    drafts,
    plans,
    writtenFiles,
    reportFolders,
  }: Pick<Services, 'drafts' | 'plans' | 'writtenFiles' | 'reportFolders'>,
  files: FilesToErase,
): Promise<string[]> {
  for (const id of files.drafts) await drafts.remove(id)
  for (const code of files.plans) await plans.remove(code)
  let failure: unknown
  const notRemoved: string[] = []
  for (const path of files.files) {
    if (isReplaceable(path)) continue
    if (await isFile(path)) await rm(path, { force: true })
    await writtenFiles.remove(path)
  }
  for (const { folder, keys } of files.reports) {
    // An unusable folder must not prevent the removal of reports in the other folders.
    try {
      notRemoved.push(...(await reportFolders.erase(folder, keys)))
    } catch (error) {
      failure ??= error
    }
  }
  if (failure !== undefined) throw failure
  return notRemoved
}

/** Whether another account owns the file or could replace it, because it owns or may rename a folder above it. */
export const isReplaceable = (path: string): boolean => findFolderWeakness(path) !== undefined

/** Whether the path is a regular file; links are not followed. */
export async function isFile(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isFile() === true
}

import type { Scope } from '../cli/scope.ts'
import { processId } from '../host/process-id.ts'
import { RefcheckError } from '../errors/base.ts'
import type { Maintenance } from '../store/ledger/maintenance.ts'
import type { WrittenFile } from '../store/written-files.ts'
import type { ErasePorts, FilePorts } from '../usecases/store/files-of-person.ts'

/** What looks for people in files of this machine, and erases them there. */
export async function filePorts(
  scope: Scope,
): Promise<FilePorts & Pick<ErasePorts, 'written' | 'eraseReports'>> {
  const [{ WrittenFiles }, { recordsIn, ReportFolder }, { csv }] = await Promise.all([
    import('../store/written-files.ts'),
    import('../store/reports/folder.ts'),
    import('../output/csv.ts'),
  ])
  const { clock, random } = scope.context
  return {
    written: new WrittenFiles(scope.paths.data),
    recordsIn,
    async eraseReports(path, keys) {
      if ((await recordsIn(path)).length === 0) return
      const folder = await ReportFolder.open(path, { clock, random, pid: processId(), csv })
      try {
        await folder.erase(keys)
      } finally {
        await folder.close()
      }
    },
  }
}

/** Remembers a file with people's data, so that a purge names it. The file itself is written: a failure is only a warning. */
export async function rememberWritten(scope: Scope, file: WrittenFile): Promise<void> {
  const { WrittenFiles } = await import('../store/written-files.ts')
  try {
    await new WrittenFiles(scope.paths.data).add(file)
  } catch (error) {
    if (!(error instanceof RefcheckError)) throw error
    scope.note(`A purge will not find ${file.path}: ${error.message}.`)
  }
}

/** Ends a purge that was interrupted before it had erased its files; what cannot be erased now is left to the next start. */
export async function eraseLeftFiles(
  scope: Scope,
  maintenance: Pick<Maintenance, 'finishErasure'>,
): Promise<void> {
  const [{ openDrafts }, { openOrderPlans }, { eraseFiles }] = await Promise.all([
    import('../store/drafts/drafts.ts'),
    import('../store/plans/order-plans.ts'),
    import('../usecases/store/files-of-person.ts'),
  ])
  const { paths, note: onNotice } = scope
  const { random } = scope.context
  const ports = {
    ...(await filePorts(scope)),
    drafts: openDrafts({ paths, random, onNotice }),
    plans: openOrderPlans({ paths, random }),
  }
  try {
    await maintenance.finishErasure((files) => eraseFiles(ports, files))
  } catch (error) {
    if (!(error instanceof RefcheckError)) throw error
    scope.note(`Files of a purge that was interrupted are not all removed yet: ${error.message}.`)
  }
}

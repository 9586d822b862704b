import type { FilingResult, StoredReport } from '../../domain/report/filed.ts'
import { RefcheckError } from '../../errors/base.ts'
import type { ReportFolder } from '../../store/reports/folder.ts'

/** A folder that reports can be put in. */
export interface Filing {
  folder: ReportFolder
  run: () => Promise<FilingResult>
}

/** Files the reports and leaves the folder in order; a manifest that could not be written is a failure too. */
export async function fileAll({ folder, run }: Filing): Promise<FilingResult> {
  let result: FilingResult | undefined
  try {
    result = await run()
  } finally {
    const failure = await closed(folder)
    if (result !== undefined) result.failure ??= failure
  }
  return result
}

async function closed(folder: ReportFolder): Promise<RefcheckError | undefined> {
  try {
    await folder.close()
    return undefined
  } catch (error) {
    if (error instanceof RefcheckError) return error
    throw error
  }
}

/** Opens the report, or the folder of several, for the person to see. `open` says why it could not. */
export async function showReports(
  open: (path: string) => Promise<string | undefined>,
  onUnopened: (path: string, why: string) => void,
  folder: string,
  stored: readonly StoredReport[],
): Promise<void> {
  const [first] = stored
  if (first === undefined) return
  const path = stored.length === 1 ? first.path : folder
  const why = await open(path)
  if (why !== undefined) onUnopened(path, why)
}

import { changed, fileInTheWay, ofAnother, reportMissing } from '../../domain/report/filed.ts'
import { isSameName, type ReportRecord, type ReportSubject } from '../../domain/report/record.ts'
import type { HttpStream } from '../../http/types.ts'
import type { ReportFolder } from '../../store/reports/folder.ts'
import { transfer } from './transfer.ts'

export interface TargetOptions {
  folder: ReportFolder
  overwrite: boolean
  quick: boolean
  signal?: AbortSignal | undefined
  onBytes?: ((bytes: number) => void) | undefined
  /** Called when all of it came, and only the disk is left. */
  onReceived?: (() => void) | undefined
}

/** One report to file. */
export interface FileRequest {
  subject: ReportSubject
  /** The name it gets, unless it has one on record. */
  file: string
  /** The check's or referee's status, where it has no report to download. */
  notReady?: string | undefined
}

/**
 * Files one report: left where it is on record and whole, fixed where it is damaged, refused with an
 * IncompleteError where something else stands there. `overwrite` replaces all of these, under the name wanted.
 */
export async function fileTarget(
  { subject, file, notReady }: FileRequest,
  open: () => Promise<HttpStream>,
  options: TargetOptions,
): Promise<{ record: ReportRecord; skipped: boolean }> {
  const { folder, overwrite, quick } = options
  const record = folder.record(subject)
  if (record !== undefined && !isSameName(record, subject)) throw ofAnother(record)
  const standing = record === undefined ? 'absent' : await folder.standing(record, !quick)
  if (!overwrite && record !== undefined) {
    if (standing === 'whole') return { record, skipped: true }
    if (standing === 'changed') throw changed(record.file)
  }
  if (notReady !== undefined) throw reportMissing(subject.check_name ?? 'the report', notReady)
  const kept = await transfer(
    {
      subject,
      file: overwrite ? file : (record?.file ?? file),
      replace: overwrite || standing === 'damaged',
      onReceived: options.onReceived,
    },
    open,
    options,
  )
  if (kept.outcome === 'refused') throw fileInTheWay(kept.why, file)
  if (overwrite && record !== undefined && record.file !== kept.record.file && standing === 'whole') {
    await folder.discard(record.file)
  }
  return { record: kept.record, skipped: kept.outcome === 'there' }
}

import type { Api } from '../../api/api.ts'
import { type FilingEvent, type StoredReport, storedReport } from '../../domain/report/filed.ts'
import { plainReportName } from '../../domain/report/name.ts'
import { idsOf, type SingleSource } from '../../domain/report/source.ts'
import { addressOf } from '../../domain/submission/identity.ts'
import { IncompleteError, IoError, UsageError } from '../../errors/kinds.ts'
import { fileTarget } from './file-target.ts'
import type { HttpStream } from '../../http/types.ts'
import { PdfStream } from './pdf-stream.ts'
import type { ReportFolder } from '../../store/reports/folder.ts'

export interface Connection {
  api: Api
  signal?: AbortSignal | undefined
}

export interface SingleOptions extends Connection {
  folder: ReportFolder
  /** Its name in the folder; one of its ids unless told. */
  file?: string | undefined
  overwrite: boolean
  onEvent?: ((event: FilingEvent) => void) | undefined
}

/** Files one report that is not reached through its request, whose person is therefore not known. */
export async function fileOne(source: SingleSource, options: SingleOptions): Promise<StoredReport> {
  const { folder, file, overwrite, signal, onEvent } = options
  const { checkId, refereeId } = idsOf(source)
  const subject = {
    service: addressOf(options.api.baseUrl),
    request_id: null,
    check_id: checkId ?? null,
    referee_id: refereeId ?? null,
    first_name: null,
    last_name: null,
    check_name: null,
    request_reports: null,
    request_without: null,
  }
  onEvent?.({ name: 'planned', files: 1 })
  const { record, skipped } = await fileTarget(
    { subject, file: file ?? plainReportName(checkId ?? 'unnamed', refereeId) },
    () => openSource(source, options),
    {
      folder,
      overwrite,
      quick: false,
      signal,
      onBytes: (bytes) => onEvent?.({ name: 'received', bytes }),
    },
  ).catch((error: unknown) => {
    // Of one report it is not some that are lacking: it could not be written.
    if (!(error instanceof IncompleteError)) throw error
    if (file === undefined || overwrite) throw new IoError(error.message, { hint: error.hint })
    throw new UsageError(`--output: ${file} already exists and is not this report`, {
      hint: 'It was left as it is. Choose another name, or replace it with: --overwrite',
    })
  })
  onEvent?.({ name: 'filed', skipped })
  return storedReport(record, folder.pathOf(record.file), skipped)
}

/** One report as a checked stream, for a pipe. */
export function streamReport(source: SingleSource, connection: Connection): AsyncIterable<Uint8Array> {
  return {
    async *[Symbol.asyncIterator]() {
      yield* new PdfStream(await openSource(source, connection))
    },
  }
}

/** By URL with its token alone, else with the authentication headers. */
function openSource(source: SingleSource, { api, signal }: Connection): Promise<HttpStream> {
  return source.kind === 'url'
    ? api.openSignedReport(source.url, signal)
    : api.openReport({ checkId: source.checkId, refereeId: source.refereeId }, signal)
}

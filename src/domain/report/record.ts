import { z } from 'zod'

import { parseJsonOrUndefined } from '../../contract/parse-json.ts'
import { IoError } from '../../errors/kinds.ts'

/**
 * A path relative to the folder, with `/` as separator. It cannot lead out of the folder, even in a manifest that
 * another program wrote.
 */
const relativePath = z.string().refine((file) => {
  if (file.length > 4096 || file.includes('\0') || file.includes('\\')) return false
  return file.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
})

/** A report in a folder, as `manifest.json` lists it. */
export const reportRecord = z.object({
  /** The service that the report came from, in the form of `serviceOf` (domain/submission/identity.ts). */
  service: z.string(),
  /**
   * Null if the report was downloaded by its own ids or URL. Then the names of the person and the check are null too.
   */
  request_id: z.string().nullable(),
  check_id: z.string().nullable(),
  referee_id: z.string().nullable(),
  first_name: z.string().nullable(),
  last_name: z.string().nullable(),
  check_name: z.string().nullable(),
  file: relativePath,
  bytes: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  stored_at: z.iso.datetime(),
  /** The number of reports of the request; null until the request has a terminal status. */
  request_reports: z.int().nullable(),
  /**
   * The number of checks and referees of the request that ended without a report; null until the request has a
   * terminal status.
   */
  request_without: z.int().nullable(),
  /** Distinguishes two people with the same name. Null if the names are null, and in records of earlier versions. */
  email: z.string().nullable().default(null),
  package_id: z.int().nullable().default(null),
})
export type ReportRecord = z.infer<typeof reportRecord>

export const manifestName = 'manifest.json'
export const manifestTableName = 'manifest.csv'

const manifestColumns = Object.keys(reportRecord.shape) as (keyof ReportRecord)[]

/** Returns the rows of `manifest.csv`, with the header first. */
export function manifestTable(records: readonly ReportRecord[]): (string | number | null)[][] {
  return [[...manifestColumns], ...records.map((record) => manifestColumns.map((column) => record[column]))]
}

/** Parses the text of a manifest. Throws IoError if refcheck did not write it. */
export function parseManifest(text: string, path: string): ReportRecord[] {
  const parsed = z.array(reportRecord).safeParse(parseJsonOrUndefined(text))
  if (parsed.success) return parsed.data
  throw new IoError(`"${path}" is not a list of reports written by refcheck`, {
    hint: 'Use another folder, or move that file away: the reports are then compared and listed again.',
  })
}

/** Parses a line of the journal of reports; undefined for an incomplete line. */
export function parseJournalLine(line: string): ReportRecord | undefined {
  return reportRecord.safeParse(parseJsonOrUndefined(line)).data
}

/** The parts of a record that are not about the file. */
export type ReportSubject = Omit<ReportRecord, 'file' | 'bytes' | 'sha256' | 'stored_at'>

/**
 * Returns the key of a report: service, request, check, and the referee of a reference. The id of a check is not
 * enough, because another service or a restarted sandbox may use the same one. JSON keeps the ids apart, so different
 * ids never have the same key.
 */
export function reportKey(
  report: Pick<ReportRecord, 'service' | 'request_id' | 'check_id' | 'referee_id'>,
): string {
  return JSON.stringify([report.service, report.request_id, report.check_id, report.referee_id])
}

type PersonName = Pick<ReportRecord, 'first_name' | 'last_name'>

export const isSameName = (one: PersonName, other: PersonName): boolean =>
  one.first_name === other.first_name && one.last_name === other.last_name

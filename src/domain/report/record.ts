import { z } from 'zod'

import { parseJsonOrUndefined } from '../../contract/parse-json.ts'
import { IoError } from '../../errors/kinds.ts'

/** A path below the folder, `/` between its parts; a manifest from elsewhere cannot lead out of it. */
const fileBelow = z.string().refine((file) => {
  if (file.length > 4096 || file.includes('\0') || file.includes('\\')) return false
  return file.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
})

/** A report in a folder, as `manifest.json` lists it. */
export const reportRecord = z.object({
  /** The service that it came from, as serviceOf of domain/submission/identity names it. */
  service: z.string(),
  /** Null where it was asked for by its own ids or URL alone, as are the person and the check's name. */
  request_id: z.string().nullable(),
  check_id: z.string().nullable(),
  referee_id: z.string().nullable(),
  first_name: z.string().nullable(),
  last_name: z.string().nullable(),
  check_name: z.string().nullable(),
  file: fileBelow,
  bytes: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  stored_at: z.iso.datetime(),
  /** How many reports its request has in all; null until the request has a terminal status. */
  request_reports: z.int().nullable(),
  /** How many checks and referees of the request ended without one; null as above. */
  request_without: z.int().nullable(),
  /** Null as the person is, and in a record of an earlier version: two people may have one name. */
  email: z.string().nullable().default(null),
  package_id: z.int().nullable().default(null),
})
export type ReportRecord = z.infer<typeof reportRecord>

export const manifestName = 'manifest.json'
export const manifestTableName = 'manifest.csv'

const columns = Object.keys(reportRecord.shape) as (keyof ReportRecord)[]

/** The rows of `manifest.csv`, header first. */
export function manifestTable(records: readonly ReportRecord[]): (string | number | null)[][] {
  return [[...columns], ...records.map((record) => columns.map((column) => record[column]))]
}

/** The records of a manifest's text. An IoError where it is something else that has its name. */
export function parseManifest(text: string, path: string): ReportRecord[] {
  const found = z.array(reportRecord).safeParse(parseJsonOrUndefined(text))
  if (found.success) return found.data
  throw new IoError(`"${path}" is not a list of reports written by refcheck`, {
    hint: 'Use another folder, or move that file away: the reports are then compared and listed again.',
  })
}

/** One line of the journal; undefined for one that was not written to its end. */
export function parseLine(line: string): ReportRecord | undefined {
  return reportRecord.safeParse(parseJsonOrUndefined(line)).data
}

/** What a record says besides the file. */
export type ReportSubject = Omit<ReportRecord, 'file' | 'bytes' | 'sha256' | 'stored_at'>

/**
 * What identifies a report: service, request, check, and the referee for a reference. Ids of checks alone do not:
 * another service, or a sandbox that was started again, may give out the same ones. No ids can forge another key.
 */
export function reportKey(
  report: Pick<ReportRecord, 'service' | 'request_id' | 'check_id' | 'referee_id'>,
): string {
  return JSON.stringify([report.service, report.request_id, report.check_id, report.referee_id])
}

type Named = Pick<ReportRecord, 'first_name' | 'last_name'>

export const isSameName = (one: Named, other: Named): boolean =>
  one.first_name === other.first_name && one.last_name === other.last_name

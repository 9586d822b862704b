import { relative } from 'node:path'

import type { FilingResult, MissingReport, StoredReport } from '../../domain/report/filed.ts'
import { sanitize } from '../../host/text.ts'
import { styled, type Terminal } from '../terminal.ts'
import type { View } from '../view.ts'
import { countInWords } from '../../domain/wording/count-in-words.ts'

type Filed = Pick<FilingResult, 'stored' | 'missing'>

/** Files as a person would name them from `cwd`, and what could not be had. */
export function reportsView({ stored, missing }: Filed, cwd: string): View {
  return { json: stored, text: (terminal) => lines(stored, missing, cwd, terminal) }
}

/** What bringing a folder up to date came to: what is new, and what could not be had. */
export function syncView(result: FilingResult, folder: string, cwd: string): View {
  const fresh = result.stored.filter((each) => !each.skipped)
  return {
    json: {
      folder,
      stored: fresh,
      missing: result.missing.map(({ requestId, checkId, refereeId, error }) => ({
        request_id: requestId,
        check_id: checkId,
        referee_id: refereeId,
        reason: error.message,
      })),
      skipped: result.stored.length - fresh.length,
      unfinished: result.unfinished,
    },
    text: (terminal) => lines(fresh, result.missing, cwd, terminal),
  }
}

/** `2 stored, 120 there already, 3 requests not finished`. */
export function syncSummary({ stored, unfinished }: FilingResult): string {
  const fresh = stored.filter((each) => !each.skipped).length
  const open = `${countInWords(unfinished, 'request')} not finished`
  return `${fresh} stored, ${stored.length - fresh} already there, ${open}`
}

/** A line for each report that could not be had, for where the answer has no place for them. */
export function missingText(missing: readonly MissingReport[]): string[] {
  return missing.map((each) => `unavailable  ${about(each)}`)
}

function lines(
  stored: readonly StoredReport[],
  missing: readonly MissingReport[],
  cwd: string,
  terminal: Terminal,
): string {
  return [
    ...stored.map((report) => line(report, cwd, terminal)),
    ...missing.map((each) => `${styled(terminal, 'yellow', 'unavailable')}  ${about(each)}`),
  ].join('\n')
}

function line(report: StoredReport, cwd: string, terminal: Terminal): string {
  const word = report.skipped ? styled(terminal, 'dim', 'exists') : styled(terminal, 'green', 'stored')
  return `${word}  ${sanitize(shortest(report.path, cwd))}  ${size(report.bytes)}`
}

function about({ requestId, person, error }: MissingReport): string {
  return `${sanitize(person ?? `request ${requestId}`)}: ${sanitize(error.message)}`
}

function shortest(path: string, cwd: string): string {
  const local = relative(cwd, path)
  return local.startsWith('..') || local.length >= path.length ? path : local
}

export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`
  return `${(bytes / 1_000_000).toFixed(1)} MB`
}

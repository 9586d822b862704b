import { relative } from 'node:path'

import {
  type FilingResult,
  isMissing,
  type MissingReport,
  type StoredReport,
} from '../../domain/report/filed.ts'
import { sanitize } from '../../host/text.ts'
import { failureJson } from '../failure.ts'
import { wrapped } from '../sentences.ts'
import { styled, type Terminal } from '../terminal.ts'
import type { View } from '../view.ts'
import { countInWords } from '../../domain/wording/count-in-words.ts'

/** Files as a person would name them from `cwd`, and what could not be had; in JSON each in its place. */
export function reportsView({ reports, stored, missing }: FilingResult, cwd: string): View {
  return {
    json: reports.map((each) => (isMissing(each) ? missingJson(each) : each)),
    text: (terminal) =>
      reports.length > 1
        ? `${lines(stored, missing, cwd, terminal)}\n\n${totals(stored, missing.length)}`
        : lines(stored, missing, cwd, terminal) || 'There are no reports to download.',
  }
}

/** `12 stored (4.2 MB), 3 already there, 1 unavailable`. */
function totals(stored: readonly StoredReport[], missing: number): string {
  const fresh = stored.filter((each) => !each.skipped)
  const there = stored.length - fresh.length
  const bytes = fresh.reduce((sum, each) => sum + each.bytes, 0)
  return [
    `${countInWords(fresh.length, 'report')} stored${fresh.length === 0 ? '' : ` (${size(bytes)})`}`,
    ...(there === 0 ? [] : [`${there} already there`]),
    ...(missing === 0 ? [] : [`${missing} unavailable`]),
  ].join(', ')
}

function missingJson({ requestId, checkId, refereeId, error }: MissingReport) {
  return { request_id: requestId, check_id: checkId, referee_id: refereeId, error: failureJson(error) }
}

/** What bringing a folder up to date came to: what is new, and what could not be had. */
export function syncView(result: FilingResult, folder: string, cwd: string): View {
  const fresh = result.stored.filter((each) => !each.skipped)
  return {
    json: {
      folder,
      stored: fresh,
      missing: result.missing.map((each) => ({ ...missingJson(each), reason: each.error.message })),
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

function lines(
  stored: readonly StoredReport[],
  missing: readonly MissingReport[],
  cwd: string,
  terminal: Terminal,
): string {
  return [
    ...stored.map((report) => line(report, cwd, terminal)),
    ...missing.map((each) =>
      wrapped(`${styled(terminal, 'yellow', 'unavailable')}  ${about(each)}`, terminal.columns),
    ),
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

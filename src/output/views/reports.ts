import { relative } from 'node:path'

import type { MissingReport, StoredReport } from '../../domain/report/download.ts'
import { harmless } from '../../host/text.ts'
import { styled, type Terminal } from '../terminal.ts'
import type { View } from '../view.ts'

/** Files as a person would name them from `cwd`, and what could not be had. */
export function reportsView(
  stored: readonly StoredReport[],
  missing: readonly MissingReport[],
  cwd: string,
): View {
  return {
    json: stored,
    text: (terminal) =>
      [
        ...stored.map((report) => line(report, cwd, terminal)),
        ...missing.map((each) => lacking(each, terminal)),
      ].join('\n'),
  }
}

function line(report: StoredReport, cwd: string, terminal: Terminal): string {
  const word = report.skipped ? styled(terminal, 'dim', 'there ') : styled(terminal, 'green', 'stored')
  return `${word}  ${harmless(shortest(report.path, cwd))}  ${size(report.bytes)}`
}

function lacking({ target, error }: MissingReport, terminal: Terminal): string {
  const person = `${target.person.firstName} ${target.person.lastName}`
  return `${styled(terminal, 'yellow', 'absent')}  ${harmless(person)}: ${harmless(error.message)}`
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

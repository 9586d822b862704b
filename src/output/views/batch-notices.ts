import type { BatchNotice } from '../../domain/batch/notice.ts'
import type { SheetLook } from '../../domain/sheet/look.ts'
import { countInWords } from '../../domain/wording/count-in-words.ts'
import { sanitize } from '../../host/text.ts'
import { reconciliationText, secondOrderText } from './batches.ts'

/** A notice in words; `matters` where it is said with --quiet too. Undefined where there is nothing to say. */
export function batchNoticeText(notice: BatchNotice): { text: string; matters: boolean } | undefined {
  switch (notice.name) {
    case 'mapping-kept':
      return note(`Kept how the file was read: use it with --mapping ${notice.mapping}`)
    case 'answers-kept':
      return note(`Kept your answers about the columns: use them with --mapping ${notice.mapping}`)
    case 'no-results-folder':
      return warning(
        `nothing can be written to ${notice.folder}, so there will be no results file: name one with --results.`,
      )
    case 'duplicates-too-late':
      return warning(
        `--allow-duplicate has no effect on rows that this batch already holds as duplicates. Write them to a file and run that: refcheck batch export ${notice.batchId} --state duplicate --output again.csv`,
      )
    case 'other-user':
      return warning(
        `this batch was begun as ${notice.begunAs}, and its other rows are ordered as ${notice.now}.`,
      )
    case 'reconciled': {
      const text = reconciliationText(notice.found)
      return text === '' ? undefined : note(text)
    }
    case 'file-changed':
      return warning(
        `${notice.file} has changed since, so no results file was written. Write all rows to a file with: refcheck batch export ${notice.batchId} --output results.csv`,
      )
    case 'results-unwritten': {
      const instead =
        notice.batchId === undefined
          ? ''
          : `. Write all rows to a file with: refcheck batch export ${notice.batchId} --output results.csv`
      return warning(`the results file was not written: ${notice.why}${instead}`)
    }
    case 'results-unread':
      return warning(
        `${notice.file} could not be read, so orders it may name were not looked at: ${notice.why}`,
      )
    case 'results-of-others': {
      const rows = countInWords(notice.rows, 'row names', 'rows name')
      return note(
        `${notice.file}: ${rows} another person than this file, and ${notice.rows === 1 ? 'was' : 'were'} ignored.`,
      )
    }
    case 'look-lost': {
      const { file, look } = notice
      return note(
        `${file} keeps the values, number formats and column widths, but not: ${lostText(look)}. Your own file is not changed.`,
      )
    }
    case 'rows-left-out': {
      const { file, rows } = notice
      const them = countInWords(rows, 'row that is', 'rows that are')
      return note(`${file} leaves out ${them} hidden or struck through and not ordered.`)
    }
    case 'second-orders':
      return warning(notice.found.map(secondOrderText).join('\n'))
    case 'may-order-again':
      return warning(
        `row ${notice.row} may have been ordered already. Sending it again may order, and charge for, a second check on the same person.`,
      )
  }
}

const note = (text: string) => ({ text, matters: false })
const warning = (text: string) => ({ text, matters: true })

const mostSheets = 5

function lostText({ lost, otherSheets }: Pick<SheetLook, 'lost' | 'otherSheets'>): string {
  const parts = [...lost].sort().map((part) => (part === 'formulas' ? 'formulas (only their values)' : part))
  if (otherSheets.length === 0) return parts.join(', ')
  const names = otherSheets.slice(0, mostSheets).map((name) => `"${sanitize(name)}"`)
  const more = otherSheets.length > mostSheets ? ', …' : ''
  return [...parts, `the sheet${otherSheets.length === 1 ? '' : 's'} ${names.join(', ')}${more}`].join(', ')
}

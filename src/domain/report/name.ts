import { createHash } from 'node:crypto'

import type { ReportTarget } from './targets.ts'

/** Bytes of a name's part that are kept; three parts and the ids stay far below the 255 of file systems. */
const longestPart = 60

/** Names Windows keeps for devices, whatever the extension. */
const reserved = /^(?:con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)$/i

/** Text from the service as one part of a file name: nothing that any system treats as more than a letter. */
export function namePart(text: string): string {
  const plain = text
    .slice(0, 400)
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
  const cut = truncated(plain, longestPart).replace(/-+$/, '')
  return reserved.test(cut) ? `${cut}-` : cut
}

/** `Shah-Priya_National-police-check_1b2c3d4e.pdf`: sorts by person, never the same for two reports. */
export function reportFileName(target: ReportTarget): string {
  const parts = [
    `${namePart(target.person.lastName)}-${namePart(target.person.firstName)}`.replace(/^-+|-+$/g, ''),
    namePart(target.title),
    shortId(target),
  ]
  return `${parts.filter((part) => part !== '').join('_')}.pdf`
}

/** The name of a report asked for by its ids alone. */
export function plainReportName(checkId: string, refereeId: string | undefined): string {
  const referee = refereeId === undefined ? '' : `-referee-${namePart(refereeId) || 'unnamed'}`
  return `report-${namePart(checkId)}${referee}.pdf`
}

/** Enough of both ids' hash to tell reports apart, whatever characters the ids hold. */
function shortId(target: ReportTarget): string {
  const ids = JSON.stringify([target.checkId, target.refereeId ?? null])
  return createHash('sha256').update(ids).digest('hex').slice(0, 8)
}

/** At most `bytes` of UTF-8, cut between characters. */
function truncated(text: string, bytes: number): string {
  let taken = 0
  let end = 0
  for (const character of text) {
    taken += Buffer.byteLength(character)
    if (taken > bytes) break
    end += character.length
  }
  return text.slice(0, end)
}

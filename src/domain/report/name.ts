/** Bytes of a name's part that are kept; a few of them stay below the 255 of file systems. */
const longestPart = 60

/** Names Windows keeps for devices, whatever the extension ("Naming Files, Paths, and Namespaces"). */
const reserved = /^(?:con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³]|conin\$|conout\$)(?=\.|$)/i

/** Text from the service as one part of a file name: nothing that any system treats as more than a letter. */
export function namePart(text: string): string {
  const plain = text
    .slice(0, 400)
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
  return unreserved(truncated(plain, longestPart).replace(/(?<!-)-+$/, ''))
}

/** The name of a report asked for by its ids alone. */
export function plainReportName(checkId: string, refereeId: string | undefined): string {
  const referee = refereeId === undefined ? '' : `-referee-${namePart(refereeId) || 'unnamed'}`
  return `report-${namePart(checkId)}${referee}.pdf`
}

/** A name that Windows does not take for a device. */
export function unreserved(name: string): string {
  return name.replace(reserved, '$&-')
}

/** At most `bytes` of UTF-8, cut between characters. */
export function truncated(text: string, bytes: number): string {
  let taken = 0
  let end = 0
  for (const character of text) {
    taken += Buffer.byteLength(character)
    if (taken > bytes) break
    end += character.length
  }
  return text.slice(0, end)
}

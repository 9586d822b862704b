/** Whether numbers in a format of this code are shown as dates or times, whichever number it is. */
export function isDateCode(code: string): boolean {
  if (/\[[<>=]/.test(code)) return false
  const [positive = ''] = code.slice(0, 300).split(';')
  const bare = positive
    .replaceAll(/"[^"]*"|\\.|_.|\*./g, '')
    .replaceAll(/\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, '')
    .replaceAll(/general|e[+-]/gi, '')
  return /[dmyhse]/i.test(bare)
}

const day = 86_400_000

/** Whole days of a serial as the workbook counts them, seconds to the nearest. */
export function dateText(serial: number, from1904: boolean): string | undefined {
  // Just before midnight is not the day after, unless it is so near that only a computer tells them apart.
  const today = Math.floor(serial + 2e-8)
  const seconds = Math.min(Math.round(serial * 86_400), today * 86_400 + 86_399)
  if (serial < 0 || serial >= 2_958_466 || !Number.isFinite(serial)) return undefined
  const days = Math.floor(seconds / 86_400)
  const time = seconds % 86_400
  const clock = new Date(time * 1000).toISOString().slice(11, 19)
  if (days === 0 && !from1904) return time === 0 ? undefined : clock
  // Serial 60 is 29 February 1900, which Excel has and the calendar has not.
  if (days === 60 && !from1904) return undefined
  const epoch = from1904 ? Date.UTC(1904, 0, 1) : days < 60 ? Date.UTC(1899, 11, 31) : Date.UTC(1899, 11, 30)
  const date = new Date(epoch + days * day).toISOString().slice(0, 10)
  return time === 0 ? date : `${date}T${clock}`
}

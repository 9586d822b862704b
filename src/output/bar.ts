const barWidth = 20

/** `[#####---------------]` for a quarter: full only where all of it is, and empty only where nothing is. */
export function bar(part: number): string {
  const done = part <= 0 ? 0 : Math.max(1, Math.floor(Math.min(1, part) * barWidth))
  return `[${'#'.repeat(done)}${'-'.repeat(barWidth - done)}]`
}

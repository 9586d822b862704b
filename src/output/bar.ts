import { durationInWords } from './duration.ts'

const barWidth = 20

/** `[#####---------------]` for a quarter: full only where all of it is, and empty only where nothing is. */
export function bar(part: number): string {
  const done = part <= 0 ? 0 : Math.max(1, Math.floor(Math.min(1, part) * barWidth))
  return `[${'#'.repeat(done)}${'-'.repeat(barWidth - done)}]`
}

/** The one line that everything long shows: how much of it is done, in words, and the seconds that are left where they are known. */
export function progressLine(part: number, told: string, secondsLeft?: number): string {
  const left = secondsLeft === undefined ? '' : `; ${durationInWords(secondsLeft)} left`
  return `${bar(part)}  ${told}${left}`
}

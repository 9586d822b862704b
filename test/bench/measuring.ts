import { readFileSync } from 'node:fs'

/** A figure of a benchmark, most often a ratio to a floor or a peer that ran in the same run. */
export interface Figure {
  what: string
  /** NaN where it could not be measured, because what it is compared with is not on this machine. */
  value: number
  /** Such as ` MB`; nothing for a ratio. */
  unit?: string | undefined
  /** At most one of them. */
  atMost?: number | undefined
  atLeast?: number | undefined
  /** What it was compared with, or how it was measured. */
  note?: string | undefined
}

/** The middle one; NaN of none. */
export const median = (values: readonly number[]): number => quantile(values, 0.5)

/** The quantile: the fraction `part` of the values does not exceed it; NaN of none. */
export function quantile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * part)] ?? Number.NaN
}

/** The middle ratio of measurements made in pairs. */
export function medianRatio(pairs: readonly (readonly [own: number, peer: number])[]): number {
  return median(pairs.map(([own, peer]) => own / peer))
}

/**
 * Measures two in alternation, so that other load on the machine affects both; the first pair is a warm-up.
 */
export async function inPairs(
  rounds: number,
  own: () => Promise<number> | number,
  peer: () => Promise<number> | number,
): Promise<[own: number, peer: number][]> {
  const pairs: [number, number][] = []
  for (let round = 0; round <= rounds; round += 1) {
    const ownFirst = round % 2 === 0
    const first = await (ownFirst ? own : peer)()
    const second = await (ownFirst ? peer : own)()
    if (round > 0) pairs.push(ownFirst ? [first, second] : [second, first])
  }
  return pairs
}

/** Prints figures with their goals, and sends them to the process that runs all benchmarks. */
export function printFigures(figures: readonly Figure[]): void {
  printTable(figures.map(figureRow))
  process.send?.(figures)
}

/** A figure in cells: its label, value, goal, whether the goal is met, and the note. */
export function figureRow(figure: Figure): string[] {
  const { what, unit = '', atMost, atLeast, note = '' } = figure
  const goal = atMost === undefined ? atLeast && `≥ ${atLeast}` : `≤ ${atMost}`
  const result = { met: 'met', missed: 'NOT MET', unknown: '' }[goalResult(figure)]
  return [what, shown(figure.value, unit), goal === undefined ? '' : `${goal}${unit}`, result, note]
}

/** `unknown`: there is no goal, or nothing could be measured. */
export function goalResult({ value, atMost, atLeast }: Figure): 'met' | 'missed' | 'unknown' {
  if (Number.isNaN(value) || (atMost ?? atLeast) === undefined) return 'unknown'
  return value <= (atMost ?? value) && value >= (atLeast ?? value) ? 'met' : 'missed'
}

/**
 * Megabytes, the most that this process ever held: the kernel's own figure where there is one, because the
 * figure of getrusage may be that of the parent process.
 */
export function peakMegabytes(): number {
  try {
    const [, kilobytes] = /VmHWM:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
    return Number(kilobytes) / 1024
  } catch {
    return process.resourceUsage().maxRSS / 1024
  }
}

/** Rows in columns as wide as they need to be. */
export function printTable(rows: readonly (readonly string[])[]): void {
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0))) ?? []
  for (const row of rows) {
    const line = row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')
    process.stdout.write(`${line.trimEnd()}\n`)
  }
}

function shown(value: number, unit: string): string {
  if (Number.isNaN(value)) return '-'
  const digits = value >= 100 || Number.isInteger(value) ? 0 : value >= 10 ? 1 : 2
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits }) + unit
}

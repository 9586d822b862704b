import { readFileSync } from 'node:fs'

/** A figure of a benchmark: most often the ratio to a lower bound, or to a peer program, measured in the same run. */
export interface Figure {
  label: string
  /** NaN if the value could not be measured, because the peer program is not on this machine. */
  value: number
  /** For example ` MB`; undefined for a ratio. */
  unit?: string | undefined
  /** The goal; a figure has `atMost`, `atLeast` or neither. */
  atMost?: number | undefined
  atLeast?: number | undefined
  /** The absolute values, or how the figure was measured. */
  note?: string | undefined
}

/** Returns the median; NaN if there are no values. */
export const median = (values: readonly number[]): number => quantile(values, 0.5)

/** Returns the value that the fraction `fraction` of all values does not exceed; NaN if there are no values. */
export function quantile(values: readonly number[], fraction: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * fraction)] ?? Number.NaN
}

/** Returns the median of the ratios `ours / peer` of pairs. */
export function medianRatio(pairs: readonly (readonly [ours: number, peer: number])[]): number {
  return median(pairs.map(([ours, peer]) => ours / peer))
}

/**
 * Takes two measurements in alternation, so that other load on the machine affects both. The first pair is a
 * warm-up and is not returned.
 */
export async function measureInPairs(
  rounds: number,
  measureOurs: () => Promise<number> | number,
  measurePeer: () => Promise<number> | number,
): Promise<[ours: number, peer: number][]> {
  const pairs: [number, number][] = []
  for (let round = 0; round <= rounds; round += 1) {
    const isOursFirst = round % 2 === 0
    const first = await (isOursFirst ? measureOurs : measurePeer)()
    const second = await (isOursFirst ? measurePeer : measureOurs)()
    if (round > 0) pairs.push(isOursFirst ? [first, second] : [second, first])
  }
  return pairs
}

/** Prints figures with their goals, and sends them to the process that runs all benchmarks. */
export function printFigures(figures: readonly Figure[]): void {
  printTable(figures.map(formatFigure))
  process.send?.(figures)
}

/** Returns the cells of a figure: its label, value, goal, whether the goal is met, and the note. */
export function formatFigure(figure: Figure): string[] {
  const { label, unit = '', atMost, atLeast, note = '' } = figure
  const goal = atMost === undefined ? atLeast && `≥ ${atLeast}` : `≤ ${atMost}`
  const result = { met: 'met', missed: 'NOT MET', unknown: '' }[compareWithGoal(figure)]
  return [label, formatValue(figure.value, unit), goal === undefined ? '' : `${goal}${unit}`, result, note]
}

/** Returns whether a figure meets its goal; `unknown` if it has no goal or could not be measured. */
export function compareWithGoal({ value, atMost, atLeast }: Figure): 'met' | 'missed' | 'unknown' {
  if (Number.isNaN(value) || (atMost ?? atLeast) === undefined) return 'unknown'
  return value <= (atMost ?? value) && value >= (atLeast ?? value) ? 'met' : 'missed'
}

/**
 * Returns the peak memory of this process in MB. The figure of the kernel is preferred, because getrusage may
 * return that of the parent process.
 */
export function peakMegabytes(): number {
  try {
    const [, kilobytes] = /VmHWM:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
    return Number(kilobytes) / 1024
  } catch {
    return process.resourceUsage().maxRSS / 1024
  }
}

/** Prints rows in columns that are as wide as their widest cell. */
export function printTable(rows: readonly (readonly string[])[]): void {
  const widths = rows[0]?.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0))) ?? []
  for (const row of rows) {
    const line = row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  ')
    process.stdout.write(`${line.trimEnd()}\n`)
  }
}

function formatValue(value: number, unit: string): string {
  if (Number.isNaN(value)) return '-'
  const digits = value >= 100 || Number.isInteger(value) ? 0 : value >= 10 ? 1 : 2
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits }) + unit
}

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { printTable } from '../bench/measuring.ts'
import type { Mutant } from './run.ts'

/** A mutant that no test can notice, or need not. */
interface Known {
  path: string
  /** Text of its line, where all that can be changed there is alike; else what was changed to what. */
  on?: string
  from?: string
  to?: string
  why: string
}

/** What was planted, and the test that noticed it. */
export interface Planted {
  what: string
  killedBy: string | undefined
}

const goal = 0.9

/** Prints how many were killed, and each that was not with why; the exit code. */
export function report(mutants: readonly Mutant[], plants: readonly Planted[]): number {
  const known = JSON.parse(readFileSync(join(import.meta.dirname, 'survivors.json'), 'utf8')) as Known[]
  const whyOf = ({ path, whole, from, to }: Mutant): string | undefined =>
    known.find(
      (each) =>
        each.path === path &&
        (each.on === undefined || whole.includes(each.on)) &&
        (each.from === undefined || (each.from === short(from) && each.to === short(to))),
    )?.why
  const files = new Map<string, Mutant[]>()
  for (const mutant of mutants) files.set(mutant.path, [...(files.get(mutant.path) ?? []), mutant])
  const killed = (all: readonly Mutant[]): number =>
    all.filter(({ killedBy }) => killedBy !== undefined).length
  printTable([
    ['file', 'mutants', 'killed', ''],
    ...[...files].map(([path, all]) => [
      path,
      String(all.length),
      String(killed(all)),
      percent(killed(all), all.length),
    ]),
    ['in all', String(mutants.length), String(killed(mutants)), percent(killed(mutants), mutants.length)],
  ])
  const left = mutants.filter(({ killedBy }) => killedBy === undefined)
  for (const mutant of left) {
    const { path, line, from, to } = mutant
    console.log(`\n${path}:${line}: ${whyOf(mutant) ?? 'SURVIVED'}\n  - ${short(from)}\n  + ${short(to)}`)
  }
  for (const { what, killedBy } of plants)
    console.log(
      killedBy === undefined ? `\nSURVIVED: ${what}` : `\nplanted and noticed: ${what} (${killedBy})`,
    )
  const unplanted = plants.filter(({ killedBy }) => killedBy === undefined).length
  const part = mutants.length === 0 ? 1 : killed(mutants) / mutants.length
  console.log(
    `\n${percent(killed(mutants), mutants.length)} of ${mutants.length} killed, goal ${goal * 100} %`,
  )
  return part >= goal && unplanted === 0 ? 0 : 1
}

const percent = (part: number, whole: number): string =>
  `${whole === 0 ? 100 : Math.round((part / whole) * 1000) / 10} %`

/** In one line. */
export const short = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, 160)

import { DatabaseSync } from 'node:sqlite'

import { Client } from 'pg'

/** Which mutant the program is, and which of them a test came across. */
export interface MutantSwitch {
  touched: Set<number>
  /** Mutants of what modules make when they are loaded. */
  readonly atLoad: Set<number>
  /** Those of them that are in no statement of SQL: nothing tells which test uses them. */
  readonly loose: Set<number>
  /** From now on the program is this mutant; -1: as it is. */
  become(mutant: number): void
}

/** Numbers of mutants; `to` is none of them. */
interface Range {
  from: number
  to: number
}

declare global {
  var mutantSwitch: MutantSwitch | undefined
  var isMutant: (mutant: number) => boolean
  var makeAnew: (make: () => void, value: () => unknown, mutants: Range) => void
}

/** A mutant that is asked for so often in one test goes round in a circle. */
const mostAsked = 2_000_000

export function installSwitch(): void {
  let active = -1
  let asked = 0
  const makers: (() => void)[] = []
  const statements: { text: string; mutants: Range }[] = []
  const state: MutantSwitch = {
    touched: new Set(),
    atLoad: new Set(),
    loose: new Set(),
    become(mutant) {
      asked = 0
      const was = active
      active = mutant
      if (state.atLoad.has(mutant) || state.atLoad.has(was)) for (const make of makers) make()
    },
  }
  globalThis.mutantSwitch = state
  globalThis.isMutant = (mutant) => {
    if (active === -1) {
      state.touched.add(mutant)
      return false
    }
    asked += 1
    if (asked > mostAsked) throw new Error('the mutant goes round in a circle')
    return mutant === active
  }
  globalThis.makeAnew = (make, value, mutants) => {
    makers.push(make)
    const { touched } = state
    const own = new Set<number>()
    state.touched = own
    make()
    state.touched = touched
    const text = value()
    const isStatement = typeof text === 'string' && sql.test(text)
    if (isStatement) statements.push({ text, mutants })
    for (const each of own) {
      state.atLoad.add(each)
      if (!isStatement) state.loose.add(each)
    }
  }
  const prepare = Reflect.get(DatabaseSync.prototype, 'prepare')
  DatabaseSync.prototype.prepare = function (whole) {
    if (active === -1) for (const { text, mutants } of statements) if (whole.includes(text)) touch(mutants)
    return Reflect.apply(prepare, this, [whole])
  }
  const query = Reflect.get(Client.prototype, 'query') as (...given: unknown[]) => unknown
  Client.prototype.query = function (this: Client, ...given: unknown[]) {
    const [statement] = given as [string | { text?: string } | undefined]
    const whole = nameless((typeof statement === 'string' ? statement : statement?.text) ?? '')
    if (active === -1)
      for (const { text, mutants } of statements) if (whole.includes(nameless(text))) touch(mutants)
    return Reflect.apply(query, this, given)
  } as typeof Client.prototype.query
  function touch({ from, to }: Range): void {
    for (let mutant = from; mutant < to; mutant += 1) state.touched.add(mutant)
  }
}

const sql = /\b(SELECT|UPDATE|INSERT|DELETE)\b/

/** PostgreSQL numbers what statements name. */
const nameless = (text: string): string => text.replaceAll(/(?<!:):\w+|\$\d+/g, '?')

/** Which mutant the program is, and which of them a test came across. */
export interface MutantSwitch {
  touched: Set<number>
  /** Mutants of what modules make when they are loaded. */
  readonly atLoad: Set<number>
  /** From now on the program is this mutant; -1: as it is. */
  become(mutant: number): void
}

declare global {
  var mutantSwitch: MutantSwitch | undefined
  var isMutant: (mutant: number) => boolean
  var makeAnew: (make: () => void) => void
}

/** A mutant that is asked for so often in one test goes round in a circle. */
const mostAsked = 2_000_000

export function installSwitch(): void {
  let active = -1
  let asked = 0
  const makers: (() => void)[] = []
  const state: MutantSwitch = {
    touched: new Set(),
    atLoad: new Set(),
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
  globalThis.makeAnew = (make) => {
    makers.push(make)
    const { touched } = state
    state.touched = state.atLoad
    make()
    state.touched = touched
  }
}

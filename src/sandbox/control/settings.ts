import { UsageError } from '../../errors/kinds.ts'
import { systemRandom } from '../../host/random.ts'
import { ManualClock } from './manual-clock.ts'
import { seededRandom } from '../service/seeded-random.ts'
import { type Choices, drawnRules, usualRules } from '../service/rules.ts'
import type { Settings } from '../service/state.ts'
import type { SandboxOptions } from './sandbox.ts'

/**
 * What holds for a sandbox: its data first, then what was asked for. Without a seed one is drawn, so that its keys
 * cannot be guessed and no other sandbox has its ids. Throws UsageError where another seed is asked for than the data
 * was made with, as ids and keys come from it.
 */
export function startingSettings({ seed, rules, clock, data }: SandboxOptions): Settings {
  const kept = data?.changes.findLast((change) => change.does === 'settings')?.settings
  const wanted = seed === undefined ? undefined : String(seed)
  if (data !== undefined && kept !== undefined && wanted !== undefined && kept.seed !== wanted) {
    throw new UsageError(`${data.path} was made with the seed "${kept.seed}", not "${wanted}"`, {
      hint: 'Leave the seed out, or choose another file.',
    })
  }
  const chosen = kept?.seed ?? wanted ?? systemRandom.bytes(16).toString('hex')
  const manual = clock instanceof ManualClock
  return {
    seed: chosen,
    // Data of an earlier version knows fewer rules.
    rules: { ...usualRules(), ...kept?.rules, ...chosenRules(rules, chosen) },
    clock: manual ? (kept?.clock ?? clock.now()) : null,
  }
}

/** A part of the ids of all that is made from now on, which no former life had: with a seed that was given none, so that they repeat. */
export function newLife({ seed }: SandboxOptions): readonly string[] {
  return seed === undefined ? [systemRandom.bytes(8).toString('hex')] : []
}

function chosenRules(rules: SandboxOptions['rules'], seed: string): Partial<Choices> {
  return rules === 'seeded' ? drawnRules(seededRandom(seed)) : (rules ?? {})
}

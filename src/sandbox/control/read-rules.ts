import { UsageError } from '../../errors/kinds.ts'
import { checkedChoice, type Choices } from '../service/rules.ts'

/** `name=choice`, repeated, or `seeded` alone. */
export function readRules(rules: readonly string[]): Partial<Choices> | 'seeded' | undefined {
  if (rules.length === 0) return undefined
  if (rules.length === 1 && rules[0] === 'seeded') return 'seeded'
  const chosen: Partial<Choices> = {}
  for (const rule of rules) {
    const equals = rule.indexOf('=')
    if (equals === -1) {
      throw new UsageError(`--rule: "${rule.slice(0, 60)}" is not NAME=CHOICE`, {
        hint: 'List the names and choices with: refcheck sandbox rules',
      })
    }
    Object.assign(chosen, checkedChoice(rule.slice(0, equals), rule.slice(equals + 1)))
  }
  return chosen
}

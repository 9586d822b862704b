import { UsageError } from '../errors/kinds.ts'
import { helpOf } from './parse-failure.ts'

type Flags = Readonly<Record<string, { type: string }>>

/**
 * Refuses words that oclif would misread: it takes what follows the = of a switch for an argument, so that `--yes=no` is a
 * yes and a file "no". No shell passes a NUL on, and no name of a file has one.
 */
export function requireWords(argv: readonly string[], flags: Flags, id: string | undefined): void {
  const end = argv.indexOf('--')
  for (const [at, word] of argv.entries()) {
    const [, name = ''] = (end === -1 || at < end ? /^--([^=]+)=/s.exec(word) : undefined) ?? []
    const isFlag = Object.hasOwn(flags, name)
    if (word.includes('\0'))
      throw new UsageError(`${isFlag ? `--${name}` : 'an argument'} holds a NUL character`, {
        hint: helpOf(id),
      })
    if (isFlag && flags[name]?.type === 'boolean')
      throw new UsageError(`--${name} takes no value`, { hint: helpOf(id) })
  }
}

/** Refuses numbers that are not counted one by one any more. */
export function requireCountable(flags: Readonly<Record<string, unknown>>, id: string | undefined): void {
  for (const [name, value] of Object.entries(flags)) {
    const tooLarge = [value].flat().some((each) => typeof each === 'number' && !Number.isSafeInteger(each))
    if (tooLarge) throw new UsageError(`--${name}: the number is too large`, { hint: helpOf(id) })
  }
}

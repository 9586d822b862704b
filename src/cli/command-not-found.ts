import type { Hook } from '@oclif/core/hooks'

import { UsageError } from '../errors/kinds.ts'
import { concealed } from './concealed.ts'
import { nearest } from '../domain/form/nearest.ts'

/** Only suggests. Running a guess is never right for a tool that orders things. */
const commandNotFound: Hook.CommandNotFound = async ({ config, id }) => {
  if (id.startsWith('-')) {
    const flag = concealed(id.replace(/=.*$/s, ''))
    throw new UsageError(`the flag ${flag} stands before the command`, {
      hint: 'Flags come after it: refcheck COMMAND … See "refcheck --help".',
    })
  }
  const words = id.split(':')
  const known = config.commandIDs.map((each) => each.replaceAll(':', ' '))
  // oclif takes what follows a command without arguments for a part of its name.
  for (let length = words.length - 1; length > 0; length -= 1) {
    const command = words.slice(0, length).join(' ')
    if (!known.includes(command)) continue
    throw new UsageError(`unexpected argument "${concealed(words[length] ?? '')}"`, {
      hint: `See "refcheck ${command} --help".`,
    })
  }
  const typed = words.map(concealed).join(' ')
  const guess = nearest(typed, known)
  throw new UsageError(`there is no command "${typed}"`, {
    hint: guess === undefined ? 'See "refcheck --help".' : `Did you mean "refcheck ${guess}"?`,
  })
}

export default commandNotFound

import type { Hook } from '@oclif/core/hooks'

import { UsageError } from '../errors/kinds.ts'
import { redactArgument } from '../domain/wording/redact-argument.ts'
import { shellWord } from '../domain/wording/pasted-command.ts'
import { commandNames, unknownCommand } from './suggest.ts'

/** Only suggests. Running a guess is never right for a tool that orders things. */
const commandNotFound: Hook.CommandNotFound = async ({ argv, config, id }) => {
  if (id.startsWith('-')) {
    const flag = redactArgument(id.replace(/=.*$/s, ''))
    throw new UsageError(`the flag ${flag} is before the command`, {
      hint: 'Put flags after the command. List the commands with: refcheck help',
    })
  }
  const words = id.split(':')
  const known = commandNames(config)
  // oclif takes what follows a command without arguments for a part of its name.
  for (let length = words.length - 1; length > 0; length -= 1) {
    const command = words.slice(0, length).join(' ')
    if (!known.includes(command)) continue
    const extra = redactArgument(words[length] ?? '')
    const ofPerson =
      command === 'request list' ? [`One person's order: refcheck request get ${shellWord(extra)}`] : []
    throw new UsageError(`unexpected argument "${extra}"`, {
      hint: [...ofPerson, `Show its help with: refcheck ${command} --help`].join('\n'),
    })
  }
  throw unknownCommand([...words, ...(argv ?? [])], known)
}

export default commandNotFound

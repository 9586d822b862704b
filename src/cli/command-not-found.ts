import type { Hook } from '@oclif/core/hooks'

import { UsageError } from '../errors/kinds.ts'
import { redactArgument } from '../domain/wording/redact-argument.ts'
import { shellWord } from '../domain/wording/pasted-command.ts'
import { commandNames, unknownCommandError } from './suggest.ts'

/** Throws a UsageError that suggests a command. The suggestion is never run, because commands order checks. */
const commandNotFound: Hook.CommandNotFound = async ({ argv, config, id }) => {
  if (id.startsWith('-')) {
    const flag = redactArgument(id.replace(/=.*$/s, ''))
    throw new UsageError(`the flag ${flag} is before the command`, {
      hint: 'Put flags after the command. List the commands with: refcheck help',
    })
  }
  const words = id.split(':')
  const knownCommands = commandNames(config)
  // oclif reads words after a command without arguments as parts of its name.
  for (let length = words.length - 1; length > 0; length -= 1) {
    const command = words.slice(0, length).join(' ')
    if (!knownCommands.includes(command)) continue
    const extra = redactArgument(words[length] ?? '')
    const personHint =
      command === 'request list' ? [`One person's order: refcheck request get ${shellWord(extra)}`] : []
    throw new UsageError(`unexpected argument "${extra}"`, {
      hint: [...personHint, `Show its help with: refcheck ${command} --help`].join('\n'),
    })
  }
  throw unknownCommandError([...words, ...(argv ?? [])], knownCommands)
}

export default commandNotFound

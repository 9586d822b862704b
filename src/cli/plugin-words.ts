import type { Command } from '@oclif/core'

/** What a plugin's command says in its help, in our words. */
interface Words {
  summary: string
  description: string
  args: Readonly<Record<string, string>>
  flags: Readonly<Record<string, string>>
}

const words: Readonly<Record<string, Words>> = {
  autocomplete: {
    summary: 'Show how to set up completion for the shell',
    description:
      'The TAB key then completes commands and flags. Prints what to run once, for bash, zsh or PowerShell, and prepares the list of commands.',
    args: { shell: 'shell to set it up for (default: the one in use)' },
    flags: { 'refresh-cache': 'Prepare the list of commands again, print nothing; run it after an update' },
  },
}

/** A command as its help shows it. */
export function inOurWords(command: Command.Loadable): Command.Loadable {
  const own = words[command.id]
  if (own === undefined) return command
  const { summary, description } = own
  const args = Object.entries(command.args).map(([name, arg]) => [
    name,
    { ...arg, description: own.args[name] ?? arg.description },
  ])
  const flags = Object.entries(command.flags).map(([name, flag]) => [
    name,
    { ...flag, summary: own.flags[name] ?? flag.summary, description: undefined },
  ])
  return {
    ...command,
    summary,
    description,
    args: Object.fromEntries(args),
    flags: Object.fromEntries(flags),
  }
}

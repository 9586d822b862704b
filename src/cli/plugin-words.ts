import type { Command } from '@oclif/core'
import type { Config } from '@oclif/core/interfaces'

import { currentContext } from './context.ts'

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

/** Has the plugin tell how completion is set up in our words, and nothing of the cache that it fills. */
export async function setUpInOurWords(config: Config): Promise<void> {
  const { ux } = await import('@oclif/core/ux')
  Object.assign(ux.action, { start: () => undefined, stop: () => undefined })
  const command = await config.findCommand('autocomplete', { must: true }).load()
  Object.assign(command.prototype, {
    printShellInstructions: (shell: string) => currentContext().streams.stdout.write(setupText(shell)),
  })
}

const profiles: Readonly<Record<string, string>> = { bash: '~/.bashrc', zsh: '~/.zshrc' }

/** How completion is set up for a shell: what to run once, and what it does then. */
export function setupText(shell: string): string {
  const keys = shell === 'bash' ? 'TAB twice' : 'TAB'
  return `${shellSetup(shell)}
Then press ${keys} after the start of a command, or of a flag:

  refcheck batch
  refcheck batch run --
`
}

function shellSetup(shell: string): string {
  const profile = profiles[shell]
  if (profile === undefined) {
    return `Run these two lines once in PowerShell, in this order:

  New-Item -Type Directory -Path (Split-Path -Parent $PROFILE) -ErrorAction SilentlyContinue
  Add-Content -Path $PROFILE -Value (Invoke-Expression -Command "refcheck autocomplete script ${shell}"); .$PROFILE
`
  }
  const login =
    shell === 'bash'
      ? `\nIf your terminal opens login shells, name ~/.bash_profile in place of ${profile}.\n`
      : ''
  return `Run this once. It adds a line to ${profile}, which ${shell} reads when it starts:

  printf "$(refcheck autocomplete script ${shell})" >> ${profile}; source ${profile}
${login}`
}

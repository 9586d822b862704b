import type { Candidate } from '../../domain/completion/wanted.ts'
import { sanitize } from '../../host/text.ts'
import type { View } from '../view.ts'

export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const
export type Shell = (typeof shells)[number]

/** Where each shell reads its script from; nothing is run at its start but that. */
const setups: Readonly<Record<Shell, string>> = {
  bash: `  refcheck completion bash > ~/.refcheck-completion.bash
  echo 'source ~/.refcheck-completion.bash' >> ~/.bashrc`,
  zsh: `  refcheck completion zsh > ~/.refcheck-completion.zsh
  echo 'source ~/.refcheck-completion.zsh' >> ~/.zshrc`,
  fish: `  mkdir -p ~/.config/fish/completions
  refcheck completion fish > ~/.config/fish/completions/refcheck.fish`,
  powershell: `  New-Item -Type Directory -Force (Split-Path -Parent $PROFILE)
  refcheck completion powershell >> $PROFILE`,
}

const names: Readonly<Record<Shell, string>> = {
  bash: 'bash',
  zsh: 'zsh',
  fish: 'fish',
  powershell: 'PowerShell',
}

/** How completion is set up, for each shell. */
export function completionSetupView(): View {
  const parts = shells.map((shell) => `${names[shell]}:\n\n${setups[shell]}`)
  const text = `Run these lines once, for your shell, and open a new terminal:\n\n${parts.join('\n\n')}`
  return { json: { setup: setups }, text: () => text }
}

/** A shell's script, as it is. */
export const completionScriptView = (shell: Shell, script: string): View => ({
  json: { shell, script },
  text: () => script.trimEnd(),
})

/** One candidate a line, with what it is after a tab; what would break a line is left out. */
export function candidateLines(candidates: readonly Candidate[]): string {
  return candidates
    .filter(({ value }) => !/[\p{Cc}\p{Cf}]/u.test(value))
    .map(({ value, about }) => `${value}\t${sanitize(about).slice(0, 100)}\n`)
    .join('')
}

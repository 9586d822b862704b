import type { Shell } from '../output/views/completion.ts'

/** The script of one shell, loaded alone. */
export async function completionScript(shell: Shell): Promise<string> {
  switch (shell) {
    case 'bash':
      return (await import('../output/completion/bash.ts')).default
    case 'zsh':
      return (await import('../output/completion/zsh.ts')).default
    case 'fish':
      return (await import('../output/completion/fish.ts')).default
    case 'powershell':
      return (await import('../output/completion/powershell.ts')).default
  }
}

import type { Completion } from '../../domain/completion/wanted.ts'
import { sanitize } from '../../host/text.ts'
import type { View } from '../view.ts'

export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const
export type Shell = (typeof shells)[number]

/**
 * The lines that install the script of each shell. At its start, a shell only reads the script and does not run
 * refcheck.
 */
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

const shellNames: Readonly<Record<Shell, string>> = {
  bash: 'bash',
  zsh: 'zsh',
  fish: 'fish',
  powershell: 'PowerShell',
}

/** Shows how completion is set up in each shell. */
export function completionSetupView(): View {
  const parts = shells.map((shell) => `${shellNames[shell]}:\n\n${setups[shell]}`)
  const text = `Run these lines once, for your shell, and open a new terminal:\n\n${parts.join('\n\n')}`
  return { json: { setup: setups }, text: () => text, isVerbatim: true }
}

/** Shows the completion script of a shell, unchanged. */
export const completionScriptView = (shell: Shell): View => ({
  json: { shell, script: scripts[shell] },
  text: () => scripts[shell].trimEnd(),
  isVerbatim: true,
})

/** Returns one line per candidate: value, tab, description. Values with control or format characters are omitted. */
export function candidateLines(candidates: readonly Completion[]): string {
  return candidates
    .filter(({ value }) => !/[\p{Cc}\p{Cf}]/u.test(value))
    .map(({ value, description }) => `${value}\t${sanitize(description).slice(0, 100)}\n`)
    .join('')
}

/** The script does not need the package bash-completion and does not evaluate the text that the user typed. */
const bash = String.raw`# bash completion for refcheck
_refcheck() {
  local at word value about room cur=() words=() shown=()
  COMPREPLY=()
  # bash takes "--flag=value" for three words.
  for ((at = 1; at <= COMP_CWORD; at++)); do
    word=${'$'}{COMP_WORDS[at]}
    if ((${'$'}{#words[@]} > 0)) && [[ $word == = || ${'$'}{words[${'$'}{#words[@]} - 1]} == --*= ]] &&
      [[ ${'$'}{words[${'$'}{#words[@]} - 1]} == --* ]]; then
      words[${'$'}{#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
  done
  cur=${'$'}{words[${'$'}{#words[@]} - 1]}
  unset "words[${'$'}{#words[@]} - 1]"
  while IFS=$'\t' read -r value about; do
    case $value in
      :files | :folders) compopt -o default 2>/dev/null ;;
      ?*)
        [[ $cur == --*=* ]] && value=${'$'}{value#*=}
        value=$(printf %q "$value")
        COMPREPLY+=("$value")
        room=$((${'$'}{COLUMNS:-80} - ${'$'}{#value} - 5))
        ((room < 20)) && room=20
        ((${'$'}{#about} > room)) && about=${'$'}{about:0:room-1}…
        shown+=("$value${'$'}{about:+  ($about)}")
        ;;
    esac
  done < <(refcheck complete "--current=$cur" -- "${'$'}{words[@]}" 2>/dev/null)
  # bash lists these and inserts only what all of them start with (COMP_TYPE is a code of readline: ?, ! or @).
  case ${'$'}{COMP_TYPE-} in
    63 | 33 | 64) ((${'$'}{#shown[@]} > 1)) && COMPREPLY=("${'$'}{shown[@]}") ;;
  esac
}
if type compopt >/dev/null 2>&1; then
  complete -F _refcheck refcheck
else
  complete -o default -F _refcheck refcheck
fi
`

/** The script works whether or not the user's shell has run compinit. */
const zsh = String.raw`#compdef refcheck
# zsh completion for refcheck
_refcheck() {
  local line value about
  local -a described
  for line in "${'$'}{(@f)$(refcheck complete "--current=${'$'}{(Q)words[CURRENT]}" -- "${'$'}{(@Q)words[2,CURRENT-1]}" 2>/dev/null)}"; do
    case $line in
      :files) compset -P '--*='; _files; return ;;
      :folders) compset -P '--*='; _files -/; return ;;
      ?*)
        value=${'$'}{line%%$'\t'*}
        about=${'$'}{line#*$'\t'}
        described+=("${'$'}{value//:/\\:}:$about")
        ;;
    esac
  done
  _describe -t values refcheck described
}
if (( ! ${'$'}+functions[compdef] )); then
  autoload -Uz compinit && compinit
fi
if [[ ${'$'}{funcstack[1]} == _refcheck ]]; then
  _refcheck "$@"
else
  compdef _refcheck refcheck
fi
`

const fish = String.raw`# fish completion for refcheck
function __refcheck_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    for line in (refcheck complete "--current=$current" -- $before[2..-1] 2>/dev/null)
        switch $line
            case ':files' ':folders'
                set -l flag (string match -r -- '^--[a-z-]+=' "$current")
                set -l typed (string replace -r -- '^--[a-z-]+=' '' "$current")
                for path in (__fish_complete_path "$typed")
                    echo "$flag$path"
                end
            case '*'
                echo $line
        end
    end
end
complete -c refcheck -e
complete -c refcheck -f -a '(__refcheck_complete)'
`

/** The script offers nothing for files and folders, because PowerShell then completes file names itself. */
const powershell = String.raw`# PowerShell completion for refcheck
Register-ArgumentCompleter -Native -CommandName refcheck -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $before = @(
    $commandAst.CommandElements |
      Select-Object -Skip 1 |
      Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
      ForEach-Object { if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { $_.ToString() } }
  )
  refcheck complete "--current=$wordToComplete" '--' @before 2>$null | ForEach-Object {
    if ($_ -notlike ':*') {
      $value, $about = $_ -split ${'"`t"'}, 2
      if (-not $about) { $about = $value }
      $text = if ($value -match '[\s''"$;,(){}&|]') { "'" + $value.Replace("'", "''") + "'" } else { $value }
      [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $about)
    }
  }
}
`

const scripts: Readonly<Record<Shell, string>> = { bash, zsh, fish, powershell }

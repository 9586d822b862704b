/** Works without the package bash-completion; nothing that was typed is evaluated. */
export default String.raw`# bash completion for refcheck
_refcheck() {
  local at word value cur=() words=()
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
  while IFS=$'\t' read -r value _; do
    case $value in
      :files | :folders) compopt -o default 2>/dev/null ;;
      ?*)
        [[ $cur == --*=* ]] && value=${'$'}{value#*=}
        COMPREPLY+=("$(printf %q "$value")")
        ;;
    esac
  done < <(refcheck complete "--current=$cur" -- "${'$'}{words[@]}" 2>/dev/null)
}
if type compopt >/dev/null 2>&1; then
  complete -F _refcheck refcheck
else
  complete -o default -F _refcheck refcheck
fi
`

/** For a shell with or without compinit. */
export default String.raw`#compdef refcheck
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

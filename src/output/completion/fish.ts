export default String.raw`# fish completion for refcheck
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

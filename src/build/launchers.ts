/** Follows links to itself, so that one in a folder of the PATH works. */
const posix = `#!/bin/sh
self=$0
while [ -L "$self" ]; do
  target=$(readlink "$self")
  case $target in
    /*) self=$target ;;
    *) self=\${self%/*}/$target ;;
  esac
done
here=\${self%/*}
exec "$here/node" "$here/../lib/bin/run.js" "$@"
`

/**
 * As npm writes its own: the batch file is over before Node starts, so that Ctrl-C does not ask whether to end it. What
 * \`%~dp0\` stands for ends with a backslash and may hold spaces, & and ^, so it is quoted; CRLF, as cmd reads it.
 */
const windows = [
  '@echo off',
  'setlocal',
  'set "here=%~dp0"',
  'endlocal & goto #_undefined_# 2>NUL || title %COMSPEC% & "%here%node.exe" "%here%..\\lib\\bin\\run.js" %*',
  '',
].join('\r\n')

/** The file that starts the program in its package, and Node's own in the same folder. */
export function launcher(platform: string): { name: string; text: string; node: string } {
  return platform.startsWith('win32')
    ? { name: 'refcheck.cmd', text: windows, node: 'node.exe' }
    : { name: 'refcheck', text: posix, node: 'node' }
}

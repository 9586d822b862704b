/*
 * Makes one file for people without Node: what `npm pack` ships, the keychain's native part, and the Node that
 * runs this, in package/refcheck-<version>-<platform>.tar.gz. Nothing is fetched. Run: npm run package
 */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface Manifest {
  name: string
  version: string
  optionalDependencies?: Record<string, string>
}

const root = join(import.meta.dirname, '..', '..')
const modules = join(root, 'node_modules')
const windows = process.platform === 'win32'

/** Follows links to itself, so that one in a folder of the PATH works. */
const launcher = `#!/bin/sh
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
const windowsLauncher = '@"%~dp0node.exe" "%~dp0..\\lib\\bin\\run.js" %*\r\n'

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

/** What could not be bundled, and what that needs, as far as it is installed here. */
function copyNative(from: Manifest, to: string): void {
  for (const name of Object.keys(from.optionalDependencies ?? {})) {
    const folder = join(modules, name)
    if (!existsSync(folder)) continue
    cpSync(folder, join(to, name), { recursive: true, dereference: true })
    copyNative(manifestOf(folder), to)
  }
}

function run(command: string, args: readonly string[], cwd: string): void {
  execFileSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'], shell: windows })
}

/** The package as npm would publish it. */
function unpackOwn(work: string, lib: string): Manifest {
  run('npm', ['pack', '--ignore-scripts', '--loglevel=error', `--pack-destination=${work}`], root)
  const { name, version } = manifestOf(root)
  mkdirSync(lib, { recursive: true })
  run('tar', ['-xzf', join(work, `${name}-${version}.tgz`), '--strip-components=1', '-C', lib], work)
  return manifestOf(lib)
}

function copyNode(bin: string): void {
  mkdirSync(bin, { recursive: true })
  const node = join(bin, windows ? 'node.exe' : 'node')
  copyFileSync(process.execPath, node)
  chmodSync(node, 0o755)
  writeFileSync(join(bin, windows ? 'refcheck.cmd' : 'refcheck'), windows ? windowsLauncher : launcher)
  if (!windows) chmodSync(join(bin, 'refcheck'), 0o755)
}

const out = join(root, 'package')
const work = mkdtempSync(join(tmpdir(), 'refcheck-package-'))
try {
  const folder = join(work, 'refcheck')
  const manifest = unpackOwn(work, join(folder, 'lib'))
  copyNative(manifest, join(folder, 'lib', 'node_modules'))
  copyNode(join(folder, 'bin'))
  const file = join(out, `refcheck-${manifest.version}-${process.platform}-${process.arch}.tar.gz`)
  mkdirSync(out, { recursive: true })
  run('tar', ['-czf', file, 'refcheck'], work)
  console.log(`${file}  ${(statSync(file).size / 1e6).toFixed(1)} MB`)
} finally {
  rmSync(work, { recursive: true, force: true })
}

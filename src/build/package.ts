/*
 * Makes one file for people without Node: what `npm pack` ships, the keychain's native part and a Node, in
 * package/refcheck-<version>-<platform>.tar.gz, for Windows .zip. For the platform this runs on nothing is fetched; for
 * another, Node and the native part come through npm. Run: npm run package, or npm run package -- --platform win32-x64
 */
import {
  chmodSync,
  copyFileSync,
  cpSync,
  createWriteStream,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

import { ZipFile } from 'yazl'

import {
  launcher,
  lockedPackage,
  platformNamed,
  platforms,
  run,
  unpackPackage,
  versionOf,
} from './platforms.ts'
import { licenceFile, licenceOf, licenceText } from './licences.ts'

const root = join(import.meta.dirname, '..', '..')
const modules = join(root, 'node_modules')
const platform = platformNamed(process.argv.slice(2))

/** The package as npm would publish it. */
function unpackOwn(work: string, lib: string): void {
  const args = ['pack', '--silent', '--ignore-scripts', `--pack-destination=${work}`]
  const file = join(work, run('npm', args, root).trim())
  mkdirSync(lib, { recursive: true })
  run('tar', ['-xzf', file, '--strip-components=1', '-C', lib], work)
}

/** Where npm put the Node that the project itself runs on. */
const nodePaths = (name: string): string[] => [
  join(modules, 'node', 'node_modules', name),
  join(modules, name),
]

function nodePackage(work: string): string {
  const { node } = platforms[platform]
  return unpackPackage(node, work, nodePaths(node.name))
}

/** Node's own licence and those of what is in it, alike for all platforms: not every package has the file. */
function nodeLicence(work: string, folder: string): string {
  const { node } = platforms['linux-x64']
  const own = join(folder, 'LICENSE')
  const file = existsSync(own) ? own : join(unpackPackage(node, work, nodePaths(node.name)), 'LICENSE')
  return readFileSync(file, 'utf8')
}

/** What could not be bundled; answers the folders. */
function copyKeychain(work: string, to: string): string[] {
  const name = '@napi-rs/keyring'
  return [name, `${name}-${platforms[platform].keychain}`].map((each) => {
    const folder = join(to, each)
    const from = unpackPackage(lockedPackage(root, each), work, [join(modules, each)])
    cpSync(from, folder, { recursive: true, dereference: true, filter: (path) => !path.endsWith('.tgz') })
    return folder
  })
}

function copyNode(from: string, bin: string): void {
  const { name, text, node } = launcher(platform)
  mkdirSync(bin, { recursive: true })
  copyFileSync(join(from, 'bin', node), join(bin, node))
  writeFileSync(join(bin, name), text)
  for (const file of [node, name]) chmodSync(join(bin, file), 0o755)
}

/** Everything that travels in the file, and under which licence. */
function writeLicences(folder: string, keychain: readonly string[], node: string, work: string): void {
  const bundled = readFileSync(join(folder, 'lib', 'dist', licenceFile), 'utf8')
  const ownText = licenceText(
    'These packages are beside it, for the keychain.',
    keychain.map((each) => licenceOf(each, [])),
  )
  const own = `Node.js ${versionOf(node)} is beside it.\n\n${nodeLicence(work, node)}`
  writeFileSync(join(folder, licenceFile), [bundled, ownText, own].join(`\n${'='.repeat(80)}\n\n`))
}

async function zip(file: string, work: string): Promise<void> {
  const archive = new ZipFile()
  for (const path of globSync('refcheck/**/*', { cwd: work }).toSorted()) {
    if (statSync(join(work, path)).isFile()) archive.addFile(join(work, path), path.replaceAll('\\', '/'))
  }
  archive.end()
  await pipeline(archive.outputStream, createWriteStream(file))
}

const out = join(root, 'package')
const work = mkdtempSync(join(tmpdir(), 'refcheck-package-'))
try {
  const folder = join(work, 'refcheck')
  unpackOwn(work, join(folder, 'lib'))
  const keychain = copyKeychain(work, join(folder, 'lib', 'node_modules'))
  const node = nodePackage(work)
  copyNode(node, join(folder, 'bin'))
  writeLicences(folder, keychain, node, work)
  const isWindows = platform.startsWith('win32')
  const name = `refcheck-${versionOf(join(folder, 'lib'))}-${platform}${isWindows ? '.zip' : '.tar.gz'}`
  mkdirSync(out, { recursive: true })
  const file = join(out, name)
  if (isWindows) await zip(file, work)
  else run('tar', ['-czf', file, 'refcheck'], work)
  console.log(`${file}  ${(statSync(file).size / 1e6).toFixed(1)} MB`)
} finally {
  rmSync(work, { recursive: true, force: true })
}

/*
 * Makes an archive for machines without Node: what `npm pack` ships, the keychain's native part and Node, as
 * package/refcheck-<version>-<platform>.tar.gz, or .zip for Windows. For the current platform nothing is downloaded;
 * for another, Node and the native part are fetched with npm. Run: npm run package, or npm run package -- --platform
 * win32-x64
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
  launcherFor,
  readLockedPackage,
  parsePlatform,
  platforms,
  runCommand,
  unpackPackage,
  versionOf,
} from './platforms.ts'
import { licenceFileName, readLicence, formatLicences } from './licences.ts'

const root = join(import.meta.dirname, '..', '..')
const modules = join(root, 'node_modules')
const platform = parsePlatform(process.argv.slice(2))

/** Unpacks the package as npm would publish it into `lib`. */
function unpackRefcheck(workFolder: string, lib: string): void {
  const args = ['pack', '--silent', '--ignore-scripts', `--pack-destination=${workFolder}`]
  const file = join(workFolder, runCommand('npm', args, root).trim())
  mkdirSync(lib, { recursive: true })
  runCommand('tar', ['-xzf', file, '--strip-components=1', '-C', lib], workFolder)
}

/** Folders in which npm may have installed the Node that the project runs on. */
const nodePaths = (name: string): string[] => [
  join(modules, 'node', 'node_modules', name),
  join(modules, name),
]

function nodePackage(workFolder: string): string {
  const { node } = platforms[platform]
  return unpackPackage(node, workFolder, nodePaths(node.name))
}

/**
 * Returns the licence of Node and its parts from the Linux package, since not every package has the file; it is the
 * same for all platforms.
 */
function nodeLicence(workFolder: string, folder: string): string {
  const { node } = platforms['linux-x64']
  const ownFile = join(folder, 'LICENSE')
  const file = existsSync(ownFile)
    ? ownFile
    : join(unpackPackage(node, workFolder, nodePaths(node.name)), 'LICENSE')
  return readFileSync(file, 'utf8')
}

/** Copies the packages of the keychain, which cannot be bundled, and returns their folders. */
function copyKeychain(workFolder: string, targetFolder: string): string[] {
  const name = '@napi-rs/keyring'
  return [name, `${name}-${platforms[platform].keychain}`].map((each) => {
    const folder = join(targetFolder, each)
    const from = unpackPackage(readLockedPackage(root, each), workFolder, [join(modules, each)])
    cpSync(from, folder, { recursive: true, dereference: true, filter: (path) => !path.endsWith('.tgz') })
    return folder
  })
}

function copyNode(nodeFolder: string, binFolder: string): void {
  const { name, text, node } = launcherFor(platform)
  mkdirSync(binFolder, { recursive: true })
  copyFileSync(join(nodeFolder, 'bin', node), join(binFolder, node))
  writeFileSync(join(binFolder, name), text)
  for (const file of [node, name]) chmodSync(join(binFolder, file), 0o755)
}

/** Writes the licences of all that the archive contains. */
function writeLicences(folder: string, keychain: readonly string[], node: string, workFolder: string): void {
  const bundled = readFileSync(join(folder, 'lib', 'dist', licenceFileName), 'utf8')
  const keychainText = formatLicences(
    'These packages are beside it, for the keychain.',
    keychain.map((each) => readLicence(each, [])),
  )
  const nodeText = `Node.js ${versionOf(node)} is included in this archive.\n\n${nodeLicence(workFolder, node)}`
  writeFileSync(
    join(folder, licenceFileName),
    [bundled, keychainText, nodeText].join(`\n${'='.repeat(80)}\n\n`),
  )
}

async function writeZip(file: string, workFolder: string): Promise<void> {
  const archive = new ZipFile()
  for (const path of globSync('refcheck/**/*', { cwd: workFolder }).toSorted()) {
    if (statSync(join(workFolder, path)).isFile())
      archive.addFile(join(workFolder, path), path.replaceAll('\\', '/'))
  }
  archive.end()
  await pipeline(archive.outputStream, createWriteStream(file))
}

const packageFolder = join(root, 'package')
const workFolder = mkdtempSync(join(tmpdir(), 'refcheck-package-'))
try {
  const folder = join(workFolder, 'refcheck')
  unpackRefcheck(workFolder, join(folder, 'lib'))
  const keychain = copyKeychain(workFolder, join(folder, 'lib', 'node_modules'))
  const node = nodePackage(workFolder)
  copyNode(node, join(folder, 'bin'))
  writeLicences(folder, keychain, node, workFolder)
  const isWindows = platform.startsWith('win32')
  const name = `refcheck-${versionOf(join(folder, 'lib'))}-${platform}${isWindows ? '.zip' : '.tar.gz'}`
  mkdirSync(packageFolder, { recursive: true })
  const file = join(packageFolder, name)
  if (isWindows) await writeZip(file, workFolder)
  else runCommand('tar', ['-czf', file, 'refcheck'], workFolder)
  console.log(`${file}  ${(statSync(file).size / 1e6).toFixed(1)} MB`)
} finally {
  rmSync(workFolder, { recursive: true, force: true })
}

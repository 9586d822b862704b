/*
 * Builds the shipped documents from oclif.manifest.json and src/output/schemas: dist/man/refcheck.1, which npm
 * installs as a man page, and dist/reference, which `refcheck reference` prints. Run: npm run build. With --manifest
 * it also sorts the commands of oclif.manifest.json by name, since oclif writes them in the order of the directory,
 * and adds new lines to test/house/json-keys.txt. It removes no lines, because scripts read these keys. Run: npm run
 * manifest
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { exitCodes } from '../errors/kinds.ts'
import { topicPage } from '../cli/topic-pages.ts'
import { commandManifest, outputSchemas } from '../app/reference.ts'
import { manPage, referenceView } from '../output/views/reference.ts'
import { listJsonKeys } from './json-keys.ts'

const root = join(import.meta.dirname, '..', '..')

const shouldUpdateManifest = process.argv.includes('--manifest')
if (shouldUpdateManifest) sortManifest(join(root, 'oclif.manifest.json'))

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
const manifest = commandManifest()
const schemas = await outputSchemas()

function makeEmptyFolder(...path: string[]): string {
  const folder = join(root, 'dist', ...path)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  return folder
}

const pages = ['exit-codes', 'environment'].flatMap((name) => topicPage(name) ?? [])
writeFileSync(join(makeEmptyFolder('man'), 'refcheck.1'), manPage(version, manifest, pages))

const markdown = referenceView(version, manifest, exitCodes, schemas).text({
  color: false,
  columns: undefined,
})
writeFileSync(join(makeEmptyFolder('reference'), 'reference.md'), `${markdown}\n`)
const folder = makeEmptyFolder('reference', 'schemas')
for (const [command, schema] of Object.entries(schemas)) {
  const file = join(folder, `${command.replaceAll(' ', '-')}.json`)
  // `refcheck reference` prints them indented; the package has a limit of 3 MB.
  writeFileSync(file, `${JSON.stringify(schema)}\n`)
}

if (shouldUpdateManifest) {
  const file = join(root, 'test', 'house', 'json-keys.txt')
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  writeFileSync(file, `${[...new Set([...lines, ...listJsonKeys(schemas)])].sort().join('\n')}\n`)
}

function sortManifest(file: string): void {
  const unsorted = JSON.parse(readFileSync(file, 'utf8')) as { commands: Record<string, object> }
  const ids = Object.keys(unsorted.commands).sort()
  if (ids.length === 0) throw new Error('oclif found no commands in dist')
  const commands = Object.fromEntries(ids.map((id) => [id, unsorted.commands[id]]))
  writeFileSync(file, `${JSON.stringify({ ...unsorted, commands }, null, 2)}\n`)
}

/*
 * Writes src/reference/reference.md and its schemas/ as `refcheck reference` prints them. Run: npm run manifest
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { exitCodes } from '../cli/exit-codes.ts'
import { commandManifest, outputSchemas } from '../compose/reference.ts'
import { referenceView } from '../output/views/reference.ts'

const root = join(import.meta.dirname, '..', '..')
const docs = join(root, 'src', 'reference')
const folder = join(docs, 'schemas')

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
const schemas = await outputSchemas()
const terminal = { color: false, columns: undefined }

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
const reference = referenceView(version, commandManifest(), exitCodes, schemas).text(terminal)
writeFileSync(join(docs, 'reference.md'), `${reference}\n`)
for (const [command, schema] of Object.entries(schemas)) {
  const file = join(folder, `${command.replaceAll(' ', '-')}.json`)
  writeFileSync(file, `${JSON.stringify(schema, null, 2)}\n`)
}

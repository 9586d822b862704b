/*
 * Sorts the commands of oclif.manifest.json by name: oclif writes them as its folders come. Run: npm run manifest
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const file = join(import.meta.dirname, '..', '..', 'oclif.manifest.json')

const manifest = JSON.parse(readFileSync(file, 'utf8')) as { commands: Record<string, object> }
const ids = Object.keys(manifest.commands).sort()
if (ids.length === 0) throw new Error('oclif found no commands in dist')
const commands = Object.fromEntries(ids.map((id) => [id, manifest.commands[id]]))
writeFileSync(file, `${JSON.stringify({ ...manifest, commands }, null, 2)}\n`)

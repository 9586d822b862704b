/*
 * Writes oclif.manifest.json out of dist: the commands and their flags, by name. Run: npm run manifest
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { Plugin } from '@oclif/core'

const root = join(import.meta.dirname, '..', '..')

const plugin = new Plugin({
  errorOnManifestCreate: true,
  ignoreManifest: true,
  respectNoCacheDefault: true,
  root,
  type: 'core',
})
await plugin.load()
const { commands, version } = plugin.manifest
const ids = Object.keys(commands).sort()
if (ids.length === 0) throw new Error('dist holds no commands')
const sorted = Object.fromEntries(ids.map((id) => [id, commands[id]]))
writeFileSync(
  join(root, 'oclif.manifest.json'),
  `${JSON.stringify({ commands: sorted, version }, null, 2)}\n`,
)

import { readFileSync } from 'node:fs'

import type { CommandManifest } from '../output/views/reference.ts'

/** Returns every command as described in oclif's manifest, which the build creates from the command classes. */
export function commandManifest(): Record<string, CommandManifest> {
  // This file is two folders below the root in src and in dist.
  const file = new URL('../../oclif.manifest.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { commands: Record<string, CommandManifest> }).commands
}

/** Returns what each command prints with --json, as JSON Schemas. */
export async function outputSchemas(): Promise<Record<string, object>> {
  const [{ answers }, { jsonSchemaOf }] = await Promise.all([
    import('../output/schemas/answers.ts'),
    import('../output/schemas/document.ts'),
  ])
  return Object.fromEntries(Object.entries(answers).map(([name, answer]) => [name, jsonSchemaOf(answer)]))
}

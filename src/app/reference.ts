import { readFileSync } from 'node:fs'

import type { CommandManifest } from '../output/views/reference.ts'

/** Every command of the program as oclif's manifest, which the build makes of their classes, describes it. */
export function commandManifest(): Record<string, CommandManifest> {
  // The same number of folders down from the root in src and in dist.
  const file = new URL('../../oclif.manifest.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { commands: Record<string, CommandManifest> }).commands
}

/** What each command prints with --json, as JSON Schemas. */
export async function outputSchemas(): Promise<Record<string, object>> {
  const [{ answers }, { jsonSchemaOf }] = await Promise.all([
    import('../output/schemas/answers.ts'),
    import('../output/schemas/document.ts'),
  ])
  return Object.fromEntries(Object.entries(answers).map(([name, answer]) => [name, jsonSchemaOf(answer)]))
}

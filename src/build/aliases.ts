import { join } from 'node:path'

import type { Plugin } from 'rolldown'

import type { Rewrites } from './rewrites.ts'

/** What is bundled in the place of a library. */
const aliases: Readonly<Record<string, string>> = {
  undici: join(import.meta.dirname, 'undici.cjs'),
  pg: join(import.meta.dirname, 'pg.cjs'),
  'string-width': join(import.meta.dirname, 'string-width.cjs'),
}

const label = (name: string): string => `alias of ${name}`

/** Names of the rewrites that must change something. */
export const aliasNames: readonly string[] = Object.keys(aliases).map(label)

/** Resolves each alias, and counts by whom it was imported. */
export function aliasPlugin(rewrites: Rewrites): Plugin {
  return {
    name: 'aliases',
    resolveId(id) {
      const path = aliases[id]
      if (path !== undefined) rewrites.count(label(id), 1)
      return path
    },
  }
}

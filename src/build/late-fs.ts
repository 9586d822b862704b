import { promises } from 'node:fs'

import type { Plugin } from 'rolldown'

import type { Rewrites } from './rewrites.ts'

const id = 'late-fs.mjs'
const label = 'late node:fs/promises'

/** Names of the rewrites that must change something. */
export const lateFsNames: readonly string[] = [label]

/**
 * Without this a start takes 1.05 to 1.10 of the processor time (`config list`, `request list`, `store check`; medians of 25
 * pairs, 2026-11-23): node:fs/promises brings readline along; `fs.promises` is the same, and
 * is loaded at its first use, which for commands that print an answer never comes.
 */
export function lateFsPlugin(sources: string, rewrites: Rewrites): Plugin {
  return {
    name: 'late-fs',
    resolveId(asked, importer) {
      if (asked !== 'node:fs/promises' || importer?.startsWith(sources) !== true) return undefined
      rewrites.count(label, 1)
      return id
    },
    load(asked) {
      if (asked !== id) return undefined
      const functions = Object.entries(promises).flatMap(([name, value]) =>
        typeof value === 'function'
          ? [`export const ${name} = (...given) => fs.promises.${name}(...given)`]
          : [],
      )
      return ["import fs from 'node:fs'", "export { constants } from 'node:fs'", ...functions].join('\n')
    },
  }
}

import { readFileSync } from 'node:fs'

import type { Plugin } from 'rolldown'

import type { Rewrites } from './rewrites.ts'

const label = 'stylesheet of pages'

/** Names of the rewrites that must change something. */
export const stylesheetNames: readonly string[] = [label]

/** Puts a library's stylesheet into the bundle as a text: from source the same is read where it is installed. */
export function stylesheetPlugin(rewrites: Rewrites): Plugin {
  return {
    name: 'stylesheets',
    load(id) {
      if (id.endsWith('/src/html/pico.ts')) {
        rewrites.count(label, 1)
        return `export { default as pico } from '@picocss/pico/css/pico.min.css'\n`
      }
      if (!id.endsWith('.css')) return undefined
      return { code: `export default ${JSON.stringify(readFileSync(id, 'utf8'))}\n`, moduleType: 'js' }
    },
  }
}

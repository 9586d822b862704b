/* Loaded before anything else of a worker: gives it the sources with the mutants in them. */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'

import type { Plan } from './plan.ts'

const file = process.env['MUTANTS_PLAN']
if (file !== undefined) {
  const { sources } = JSON.parse(readFileSync(file, 'utf8')) as Plan
  const byUrl = new Map(sources.map(({ path, text }) => [pathToFileURL(path).href, text]))
  registerHooks({
    load(url, context, next) {
      const source = byUrl.get(url)
      return source === undefined
        ? next(url, context)
        : { format: 'module-typescript', source, shortCircuit: true }
    },
  })
  const { installSwitch } = await import('./switch.ts')
  installSwitch()
}

/* A module that a process loads first: it replaces sources on the disk by those of the file in MUTANTS_PLAN. */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'

/** The text to load for the source at `path`, which is absolute. */
export interface ChangedSource {
  path: string
  text: string
}

const file = process.env['MUTANTS_PLAN']
if (file !== undefined) {
  const { sources } = JSON.parse(readFileSync(file, 'utf8')) as { sources: ChangedSource[] }
  const byUrl = new Map(sources.map(({ path, text }) => [pathToFileURL(path).href, text]))
  registerHooks({
    load(url, context, next) {
      const source = byUrl.get(url)
      return source === undefined
        ? next(url, context)
        : { format: 'module-typescript', source, shortCircuit: true }
    },
  })
}

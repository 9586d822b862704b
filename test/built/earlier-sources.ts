/* Loaded before anything else of a worker: the sources of an earlier checkout in place of these. */
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const here = pathToFileURL(join(import.meta.dirname, '..', '..', 'src', '/')).href
const there = pathToFileURL(join(process.env['EARLIER_SOURCES'] ?? '', 'src', '/')).href

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context)
    return found.url.startsWith(here) ? { ...found, url: found.url.replace(here, there) } : found
  },
})

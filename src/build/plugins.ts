import { promises, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import type { Plugin } from 'rolldown'

/** What is bundled in the place of a library. */
const aliases: Readonly<Record<string, string>> = {
  undici: join(import.meta.dirname, 'undici.cjs'),
  pg: join(import.meta.dirname, 'pg.cjs'),
  'string-width': join(import.meta.dirname, 'string-width.cjs'),
}

const aliasLabel = (name: string): string => `alias of ${name}`

/** Names of the rewrites that must change something. */
export const aliasNames: readonly string[] = Object.keys(aliases).map(aliasLabel)

/** Resolves each alias, and counts by whom it was imported. */
export function aliasPlugin(rewrites: Rewrites): Plugin {
  return {
    name: 'aliases',
    resolveId(id) {
      const path = aliases[id]
      if (path !== undefined) rewrites.count(aliasLabel(id), 1)
      return path
    },
  }
}

/**
 * Modules of libraries that hardly a run needs, required when one does: each an entry of its own, so that the file
 * every run loads stays small.
 */
export const lazyChunks: Readonly<Record<string, string>> = {
  'oclif-config': '@oclif/core/lib/config/index.js',
  'oclif-help': '@oclif/core/lib/help/index.js',
  'oclif-ux': '@oclif/core/lib/ux/index.js',
  'table-colors': '@colors/colors/safe.js',
  'undici-http2': 'undici/lib/dispatcher/client-h2.js',
  'undici-milo': 'undici/lib/milo/simd.js',
  'undici-milo-plain': 'undici/lib/milo/no-simd.js',
  'undici-llhttp-plain': 'undici/lib/llhttp/llhttp-wasm.js',
  'undici-proxy': 'undici/lib/dispatcher/env-http-proxy-agent.js',
  'undici-body': 'undici/lib/web/fetch/body.js',
  'undici-formdata': 'undici/lib/web/fetch/formdata.js',
  'undici-webidl': 'undici/lib/web/webidl/index.js',
}

/** Their folder in dist, next to the one of the other chunks. */
const folder = 'lazy'
const scheme = 'lazy-chunk:'
const lazyChunkLabel = (name: string): string => `lazy chunk ${name}`

/** Names of the rewrites that must change something. */
export const lazyChunkNames: readonly string[] = Object.keys(lazyChunks).map(lazyChunkLabel)

/** Entries of dist by their path in it, without ending. */
export function lazyChunkEntries(): [path: string, module: string][] {
  return Object.keys(lazyChunks).map((name) => [`${folder}/${name}`, `${scheme}${name}.mjs`])
}

/** Which lazy chunk a require from a file means, if any. */
function chunkOf(from: string, required: string, libraries: string): string | undefined {
  const path = required.startsWith('.') ? join(dirname(from), required) : join(libraries, required)
  const written = new Set([path, `${path}.js`, join(path, 'index.js')])
  return Object.entries(lazyChunks).find(([, module]) => written.has(join(libraries, module)))?.[0]
}

/** Chunks are all in one folder and lazy ones in the one next to it, so the requires stay as they are written here. */
export function lazyChunkPlugin(libraries: string, rewrites: Rewrites): Plugin {
  return {
    name: 'lazy-chunks',
    resolveId(id) {
      if (id.startsWith(`../${folder}/`)) return { id, external: true }
      return id.startsWith(scheme) ? id : undefined
    },
    load(id) {
      if (!id.startsWith(scheme)) return undefined
      const path = join(libraries, lazyChunks[id.slice(scheme.length, -'.mjs'.length)] ?? '')
      return `import library from '${path}'\nexport { library }\n`
    },
    transform: {
      filter: { id: /@oclif\/core\/lib\/|\/cli-table3\/src\/|\/undici\/lib\/|\/undici\.cjs$/ },
      handler: (code, id) =>
        code.replace(/\brequire\((["'])([^"']+)\1\)/g, (whole, _, required: string) => {
          const name = chunkOf(id, required, libraries)
          if (name === undefined) return whole
          rewrites.count(lazyChunkLabel(name), 1)
          return `require("../${folder}/${name}.cjs").library`
        }),
    },
  }
}

/** What is rewritten: the package, and its files. */
const lazyPackages = [
  { name: '@oclif/core', files: /\/@oclif\/core\/lib\/.*\.js$/ },
  { name: 'undici', files: /\/undici\/lib\/dispatcher\/client\.js$/ },
]

const lazyRequireLabel = (name: string): string => `lazy requires of ${name}`

/** Names of the rewrites that must change something. */
export const lazyRequireNames: readonly string[] = lazyPackages.map(({ name }) => lazyRequireLabel(name))

/**
 * Turns the requires at the head of a module compiled from TypeScript into requires at first use, as Babel's
 * `lazy` does: of @oclif/core a plain command needs a tenth. Without this the bundle does not start: modules of @oclif/core
 * require each other in circles.
 */
export function lazyRequires(code: string): { code: string; count: number } {
  const names: string[] = []
  const declaration =
    /^(?:const|var) (\w+) = ((?:__import(?:Default|Star)\()?require\(["'][^"']+["']\)(?:\.library)?\)?);?$/gm
  const declared = code.replace(declaration, (_, name: string, load: string) => {
    names.push(name)
    return `let lazy_${name}; const load_${name} = () => (lazy_${name} ??= ${load});`
  })
  const rewritten = names.reduce((text, name) => {
    const use = new RegExp(`(new\\s+)?(?<![\\w$."'/])${name}(?![\\w$"'])`, 'g')
    return text.replace(use, (_, made: string | undefined) =>
      made === undefined ? `load_${name}()` : `${made}(load_${name}())`,
    )
  }, declared)
  return { code: rewritten, count: names.length }
}

export function lazyRequirePlugins(rewrites: Rewrites): Plugin[] {
  return lazyPackages.map(({ name, files }) => ({
    name: lazyRequireLabel(name),
    transform: {
      filter: { id: files },
      handler(text) {
        const { code, count } = lazyRequires(text)
        rewrites.count(lazyRequireLabel(name), count)
        return code
      },
    },
  }))
}

const lateFsModule = 'late-fs.mjs'
const lateFsLabel = 'late node:fs/promises'

/** Names of the rewrites that must change something. */
export const lateFsNames: readonly string[] = [lateFsLabel]

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
      rewrites.count(lateFsLabel, 1)
      return lateFsModule
    },
    load(asked) {
      if (asked !== lateFsModule) return undefined
      const functions = Object.entries(promises).flatMap(([name, value]) =>
        typeof value === 'function'
          ? [`export const ${name} = (...given) => fs.promises.${name}(...given)`]
          : [],
      )
      return ["import fs from 'node:fs'", "export { constants } from 'node:fs'", ...functions].join('\n')
    },
  }
}

const stylesheetLabel = 'stylesheet of pages'

/** Names of the rewrites that must change something. */
export const stylesheetNames: readonly string[] = [stylesheetLabel]

/** Puts a library's stylesheet into the bundle as a text: from source the same is read where it is installed. */
export function stylesheetPlugin(rewrites: Rewrites): Plugin {
  return {
    name: 'stylesheets',
    load(id) {
      if (id.endsWith('/src/html/pico.ts')) {
        rewrites.count(stylesheetLabel, 1)
        return `export { default as pico } from '@picocss/pico/css/pico.min.css'\n`
      }
      if (!id.endsWith('.css')) return undefined
      return { code: `export default ${JSON.stringify(readFileSync(id, 'utf8'))}\n`, moduleType: 'js' }
    },
  }
}

/**
 * How many places each rewrite of the build changed. A rewrite that finds nothing to change means that a library or
 * a path moved, and that a start now loads what it should not: the build fails there, instead of growing slow.
 */
export class Rewrites {
  readonly #counts = new Map<string, number>()

  /** @param names What must change at least one place each by the end. */
  constructor(names: readonly string[]) {
    for (const name of names) this.#counts.set(name, 0)
  }

  /** Adds changed places to a rewrite that was named at the start. */
  count(name: string, found: number): void {
    const before = this.#counts.get(name)
    if (before === undefined) throw new Error(`the build has no rewrite "${name}"`)
    this.#counts.set(name, before + found)
  }

  /** One line a rewrite. Throws an `Error` that names each rewrite that changed nothing. */
  summary(): string[] {
    const counts = [...this.#counts]
    const idle = counts.flatMap(([name, count]) => (count === 0 ? [name] : []))
    if (idle.length > 0) throw new Error(`the build changed nothing for: ${idle.join(', ')}`)
    return counts.map(([name, count]) => `${name}: ${count}`)
  }
}

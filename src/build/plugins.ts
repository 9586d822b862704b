import { promises, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import type { Plugin } from 'rolldown'

/** What is bundled instead of a library. */
const aliases: Readonly<Record<string, string>> = {
  undici: join(import.meta.dirname, 'undici.cjs'),
  pg: join(import.meta.dirname, 'pg.cjs'),
  'string-width': join(import.meta.dirname, 'string-width.cjs'),
}

const aliasLabel = (name: string): string => `alias of ${name}`

/** Resolves each alias. */
export function aliasPlugin(rewrites: Rewrites): Plugin {
  rewrites.require(...Object.keys(aliases).map(aliasLabel))
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
 * Modules of oclif that hardly a run needs, required when one does: each an entry of its own, so that the file every run
 * loads stays small. Without this a start without compiled code takes 1.08 of the processor time (`config list`; medians of
 * 40 pairs, 2026-11-25). The same for parts of undici and cli-table3 gave less than 0.03, and is not done.
 */
const lazyChunks: Readonly<Record<string, string>> = {
  'oclif-config': '@oclif/core/lib/config/index.js',
  'oclif-help': '@oclif/core/lib/help/index.js',
  'oclif-ux': '@oclif/core/lib/ux/index.js',
}

/** Their folder in dist, next to the one of the other chunks. */
const folder = 'lazy'
const scheme = 'lazy-chunk:'

/** Entries of dist by their path in it, without ending. */
export function lazyChunkEntries(): [path: string, module: string][] {
  return Object.keys(lazyChunks).map((name) => [`${folder}/${name}`, `${scheme}${name}.mjs`])
}

/** Chunks are all in one folder and lazy ones in the one next to it, so the requires stay as they are written here. */
export function lazyChunkPlugin(libraries: string, rewrites: Rewrites): Plugin {
  const labelOf = (name: string): string => `lazy chunk ${name}`
  rewrites.require(...Object.keys(lazyChunks).map(labelOf))
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
      filter: { id: /@oclif\/core\/lib\// },
      handler: (code, id) =>
        code.replace(/\brequire\((["'])(\.[^"']+)\1\)/g, (whole, _, required: string) => {
          const path = join(dirname(id), required)
          const name = Object.keys(lazyChunks).find((each) =>
            [path, `${path}.js`, join(path, 'index.js')].includes(join(libraries, lazyChunks[each] ?? '')),
          )
          if (name === undefined) return whole
          rewrites.count(labelOf(name), 1)
          return `require("../${folder}/${name}.cjs").library`
        }),
    },
  }
}

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

/**
 * What is rewritten: the package, and its files. Without the one of undici `packages list` takes 1.02 to 1.04 of the processor
 * time, 1.07 without compiled code (medians of 30 to 80 pairs, 2026-11-25).
 */
const lazyPackages = [
  { library: '@oclif/core', files: /\/@oclif\/core\/lib\/.*\.js$/ },
  { library: 'undici', files: /\/undici\/lib\/dispatcher\/client\.js$/ },
]

export function lazyRequirePlugins(rewrites: Rewrites): Plugin[] {
  return lazyPackages.map(({ library, files }) => {
    const name = `lazy requires of ${library}`
    rewrites.require(name)
    return {
      name,
      transform: {
        filter: { id: files },
        handler(text) {
          const { code, count } = lazyRequires(text)
          rewrites.count(name, count)
          return code
        },
      },
    }
  })
}

const lateFsModule = 'late-fs.mjs'
const lateFsLabel = 'late node:fs/promises'

/**
 * Without this a start takes 1.05 to 1.10 of the processor time (`config list`, `request list`, `store check`; medians of 25
 * pairs, 2026-11-23), and 1.04 (`config list`, `webhook verify`; medians of 60 pairs on a busy machine, 2026-11-25):
 * node:fs/promises brings readline along; `fs.promises` is the same, and is loaded at its first use, which for commands
 * that print an answer never comes.
 */
export function lateFsPlugin(sources: string, rewrites: Rewrites): Plugin {
  rewrites.require(lateFsLabel)
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

/** Puts a library's stylesheet into the bundle as a text: from source the same is read where it is installed. */
export function stylesheetPlugin(rewrites: Rewrites): Plugin {
  rewrites.require(stylesheetLabel)
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

  /** Names rewrites that have to change something by the end. */
  require(...names: string[]): void {
    for (const name of names) this.#counts.set(name, 0)
  }

  /** Adds to what a rewrite changed. */
  count(name: string, found: number): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + found)
  }

  /** One line a rewrite. Throws an `Error` that names each rewrite that changed nothing. */
  summary(): string[] {
    const counts = [...this.#counts]
    const idle = counts.flatMap(([name, count]) => (count === 0 ? [name] : []))
    if (idle.length > 0) throw new Error(`the build changed nothing for: ${idle.join(', ')}`)
    return counts.map(([name, count]) => `${name}: ${count}`)
  }
}

import { promises, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import type { Plugin } from 'rolldown'

/** Files that are bundled instead of a library. */
const aliases: Readonly<Record<string, string>> = {
  undici: join(import.meta.dirname, 'undici.cjs'),
  pg: join(import.meta.dirname, 'pg.cjs'),
  'string-width': join(import.meta.dirname, 'string-width.cjs'),
}

const aliasLabel = (name: string): string => `alias of ${name}`

/** Returns a plugin that resolves the aliases. */
export function createAliasPlugin(rewriteCounts: RewriteCounts): Plugin {
  rewriteCounts.expectRewrites(...Object.keys(aliases).map(aliasLabel))
  return {
    name: 'aliases',
    resolveId(id) {
      const path = aliases[id]
      if (path !== undefined) rewriteCounts.addCount(aliasLabel(id), 1)
      return path
    },
  }
}

/**
 * Modules of oclif that few runs need. Each becomes a separate entry that is required at first use, so that the file
 * which every run loads stays small. Otherwise a start without compiled code takes 1.08 times the processor time
 * (`config list`; medians of 40 pairs, 2026-11-25). For parts of undici and cli-table3 the factor was below 1.03, so
 * they are not lazy.
 */
const lazyChunks: Readonly<Record<string, string>> = {
  'oclif-config': '@oclif/core/lib/config/index.js',
  'oclif-help': '@oclif/core/lib/help/index.js',
  'oclif-ux': '@oclif/core/lib/ux/index.js',
}

/** Folder of these modules in dist, next to that of the other chunks. */
const lazyFolder = 'lazy'
const lazyScheme = 'lazy-chunk:'

/** Returns the entries of the lazy modules by their path in dist without extension. */
export function lazyChunkEntries(): [path: string, module: string][] {
  return Object.keys(lazyChunks).map((name) => [`${lazyFolder}/${name}`, `${lazyScheme}${name}.mjs`])
}

/**
 * Returns a plugin that requires the lazy modules at first use. All chunks are in one folder and the lazy ones in the
 * folder next to it, so the relative requires are correct in every chunk.
 */
export function createLazyChunkPlugin(libraryFolder: string, rewriteCounts: RewriteCounts): Plugin {
  const labelOf = (name: string): string => `lazy chunk ${name}`
  rewriteCounts.expectRewrites(...Object.keys(lazyChunks).map(labelOf))
  return {
    name: 'lazy-chunks',
    resolveId(id) {
      if (id.startsWith(`../${lazyFolder}/`)) return { id, external: true }
      return id.startsWith(lazyScheme) ? id : undefined
    },
    load(id) {
      if (!id.startsWith(lazyScheme)) return undefined
      const path = join(libraryFolder, lazyChunks[id.slice(lazyScheme.length, -'.mjs'.length)] ?? '')
      return `import library from '${path}'\nexport { library }\n`
    },
    transform: {
      filter: { id: /@oclif\/core\/lib\// },
      handler: (code, id) =>
        code.replace(/\brequire\((["'])(\.[^"']+)\1\)/g, (requireCall, _, required: string) => {
          const path = join(dirname(id), required)
          const name = Object.keys(lazyChunks).find((each) =>
            [path, `${path}.js`, join(path, 'index.js')].includes(
              join(libraryFolder, lazyChunks[each] ?? ''),
            ),
          )
          if (name === undefined) return requireCall
          rewriteCounts.addCount(labelOf(name), 1)
          return `require("../${lazyFolder}/${name}.cjs").library`
        }),
    },
  }
}

/**
 * Turns the requires at the start of a module compiled from TypeScript into requires at first use, as Babel's `lazy`
 * does: a simple command needs a tenth of @oclif/core. Without this the bundle does not start, because modules of
 * @oclif/core require each other in cycles.
 */
export function makeRequiresLazy(code: string): { code: string; count: number } {
  const names: string[] = []
  const declaration =
    /^(?:const|var) (\w+) = ((?:__import(?:Default|Star)\()?require\(["'][^"']+["']\)(?:\.library)?\)?);?$/gm
  const withLazyDeclarations = code.replace(declaration, (_, name: string, load: string) => {
    names.push(name)
    return `let lazy_${name}; const load_${name} = () => (lazy_${name} ??= ${load});`
  })
  const rewritten = names.reduce((text, name) => {
    const usePattern = new RegExp(`(new\\s+)?(?<![\\w$."'/])${name}(?![\\w$"'])`, 'g')
    return text.replace(usePattern, (_, newKeyword: string | undefined) =>
      newKeyword === undefined ? `load_${name}()` : `${newKeyword}(load_${name}())`,
    )
  }, withLazyDeclarations)
  return { code: rewritten, count: names.length }
}

/**
 * The packages whose requires become lazy, and their files. Without the lazy requires of undici, `packages list` takes
 * 1.02 to 1.04 times the processor time, and 1.07 without compiled code (medians of 30 to 80 pairs, 2026-11-25).
 */
const lazyPackages = [
  { library: '@oclif/core', files: /\/@oclif\/core\/lib\/.*\.js$/ },
  { library: 'undici', files: /\/undici\/lib\/dispatcher\/client\.js$/ },
]

export function createLazyRequirePlugins(rewriteCounts: RewriteCounts): Plugin[] {
  return lazyPackages.map(({ library, files }) => {
    const name = `lazy requires of ${library}`
    rewriteCounts.expectRewrites(name)
    return {
      name,
      transform: {
        filter: { id: files },
        handler(text) {
          const { code, count } = makeRequiresLazy(text)
          rewriteCounts.addCount(name, count)
          return code
        },
      },
    }
  })
}

const lazyFsModule = 'lazy-fs.mjs'
const lazyFsLabel = 'lazy node:fs/promises'

/**
 * Returns a plugin that replaces node:fs/promises, which loads readline, by `fs.promises`, which has the same
 * functions and is loaded at first use; commands that only print a result never use it. Without this a start takes
 * 1.05 to 1.10 times the processor time (`config list`, `request list`, `store check`; medians of 25 pairs,
 * 2026-11-23), or 1.04 (`config list`, `webhook verify`; medians of 60 pairs on a busy machine, 2026-11-25).
 */
export function createLazyFsPlugin(sourceFolder: string, rewriteCounts: RewriteCounts): Plugin {
  rewriteCounts.expectRewrites(lazyFsLabel)
  return {
    name: 'lazy-fs',
    resolveId(moduleId, importer) {
      if (moduleId !== 'node:fs/promises' || importer?.startsWith(sourceFolder) !== true) return undefined
      rewriteCounts.addCount(lazyFsLabel, 1)
      return lazyFsModule
    },
    load(moduleId) {
      if (moduleId !== lazyFsModule) return undefined
      const functions = Object.entries(promises).flatMap(([name, value]) =>
        typeof value === 'function'
          ? [`export const ${name} = (...args) => fs.promises.${name}(...args)`]
          : [],
      )
      return ["import fs from 'node:fs'", "export { constants } from 'node:fs'", ...functions].join('\n')
    },
  }
}

const stylesheetLabel = 'stylesheet of pages'

/**
 * Returns a plugin that bundles a library's stylesheet as text. When the program runs from source, the installed file
 * is read instead.
 */
export function createStylesheetPlugin(rewriteCounts: RewriteCounts): Plugin {
  rewriteCounts.expectRewrites(stylesheetLabel)
  return {
    name: 'stylesheets',
    load(id) {
      if (id.endsWith('/src/html/pico.ts')) {
        rewriteCounts.addCount(stylesheetLabel, 1)
        return `export { default as pico } from '@picocss/pico/css/pico.min.css'\n`
      }
      if (!id.endsWith('.css')) return undefined
      return { code: `export default ${JSON.stringify(readFileSync(id, 'utf8'))}\n`, moduleType: 'js' }
    },
  }
}

/**
 * Counts the replacements of each rewrite in the build. A rewrite that replaces nothing means that a library or path
 * has changed and that a start would load more than it should, so the build fails.
 */
export class RewriteCounts {
  readonly #counts = new Map<string, number>()

  /** Registers rewrites that must each replace something. */
  expectRewrites(...names: string[]): void {
    for (const name of names) this.#counts.set(name, 0)
  }

  /** Adds to the number of replacements of a rewrite. */
  addCount(name: string, count: number): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + count)
  }

  /** Returns a line per rewrite. Throws an `Error` with each rewrite that replaced nothing. */
  summary(): string[] {
    const counts = [...this.#counts]
    const unused = counts.flatMap(([name, count]) => (count === 0 ? [name] : []))
    if (unused.length > 0) throw new Error(`the build changed nothing for: ${unused.join(', ')}`)
    return counts.map(([name, count]) => `${name}: ${count}`)
  }
}

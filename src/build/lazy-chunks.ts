import { dirname, join } from 'node:path'

import type { Plugin } from 'rolldown'

import type { Rewrites } from './rewrites.ts'

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
const label = (name: string): string => `lazy chunk ${name}`

/** Names of the rewrites that must change something. */
export const lazyChunkNames: readonly string[] = Object.keys(lazyChunks).map(label)

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
          rewrites.count(label(name), 1)
          return `require("../${folder}/${name}.cjs").library`
        }),
    },
  }
}

/*
 * Makes dist/library: what other programs import of refcheck, as ES modules with source maps, the libraries that they use in
 * chunks of their own, and types that need nothing else. Run: npm run build
 */
import { execFileSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'

import { build, type Plugin } from 'rolldown'
import { minifySync } from 'rolldown/utils'

import { licencePlugin } from './licences.ts'
import { aliasPlugin, Rewrites, stylesheetPlugin } from './plugins.ts'

const root = join(import.meta.dirname, '..', '..')
const out = join(root, 'dist', 'library')
const exported = globSync('src/exports/*.ts', { cwd: root }).map((path) => relative('src/exports', path))

/** Declarations of what is exported, and of what those name; a library in them would have to be installed too. */
function declarations(from: string, seen: Set<string>): void {
  if (seen.has(from)) return
  seen.add(from)
  const text = readFileSync(from, 'utf8')
  for (const [, name = ''] of text.matchAll(/(?:from|import\()\s*['"]([^'"]+)['"]/g)) {
    if (!name.startsWith('.')) throw new Error(`${from} needs the types of ${name}`)
    declarations(join(dirname(from), name.replace(/\.[jt]s$/, '.d.ts')), seen)
  }
}

/** The name of the package that a bundled file is of; undefined for a file of this repository. */
function libraryOf(id: string): string | undefined {
  return /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1]?.replace('/', '-')
}

/** Libraries are shipped minified and without source maps: readable they would be half of the package. */
const minifiedLibraries: Plugin = {
  name: 'minified libraries',
  transform: {
    filter: { id: /\/node_modules\// },
    handler: (code) => ({ code, map: { mappings: '' } }),
  },
  renderChunk(code, { fileName, moduleIds }) {
    if (moduleIds.some((id) => libraryOf(id) === undefined)) return null
    return {
      code: minifySync(fileName, code, { module: true, mangle: { keepNames: true } }).code,
      map: { mappings: '' },
    }
  },
}

const rewrites = new Rewrites()
await build({
  input: Object.fromEntries(
    exported.map((path) => [path.replace(/\.ts$/, ''), join(root, 'src/exports', path)]),
  ),
  checks: { ineffectiveDynamicImport: false },
  platform: 'node',
  plugins: [aliasPlugin(rewrites), stylesheetPlugin(rewrites), minifiedLibraries, licencePlugin()],
  output: {
    dir: out,
    format: 'esm',
    sourcemap: true,
    codeSplitting: {
      groups: [{ debugName: 'library', name: (id) => libraryOf(id) ?? null, test: /\/node_modules\// }],
    },
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
  },
})

const work = mkdtempSync(join(tmpdir(), 'refcheck-types-'))
try {
  const config = join(root, '.library.tsconfig.json')
  writeFileSync(
    config,
    JSON.stringify({
      extends: './tsconfig.json',
      compilerOptions: { declaration: true, emitDeclarationOnly: true, sourceMap: false, outDir: work },
      include: ['src/exports'],
    }),
  )
  try {
    execFileSync(join(root, 'node_modules', '.bin', 'tsc'), ['-p', config], { stdio: 'inherit' })
  } finally {
    rmSync(config)
  }
  const files = new Set<string>()
  for (const path of exported) declarations(join(work, 'exports', path.replace(/\.ts$/, '.d.ts')), files)
  for (const file of files) {
    const to = join(out, 'types', relative(work, file))
    mkdirSync(dirname(to), { recursive: true })
    cpSync(file, to)
  }
} finally {
  rmSync(work, { recursive: true, force: true })
}

/*
 * Builds dist/library: the modules that other programs import from refcheck, as ES modules with source maps.
 * Libraries are in separate chunks, and the type declarations need no other package. Run: npm run build
 */
import { execFileSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'

import { build, type Plugin } from 'rolldown'
import { minifySync } from 'rolldown/utils'

import { licencePlugin } from './licences.ts'
import { createAliasPlugin, RewriteCounts, createStylesheetPlugin } from './plugins.ts'

const root = join(import.meta.dirname, '..', '..')
const outputFolder = join(root, 'dist', 'library')
const exportedPaths = globSync('src/exports/*.ts', { cwd: root }).map((path) => relative('src/exports', path))

/**
 * Collects a declaration file and those that it imports. Throws an `Error` if one needs a library's types, since
 * users would have to install that library too.
 */
function collectDeclarations(path: string, collected: Set<string>): void {
  if (collected.has(path)) return
  collected.add(path)
  const text = readFileSync(path, 'utf8')
  for (const [, name = ''] of text.matchAll(/(?:from|import\()\s*['"]([^'"]+)['"]/g)) {
    if (!name.startsWith('.')) throw new Error(`${path} needs the types of ${name}`)
    collectDeclarations(join(dirname(path), name.replace(/\.[jt]s$/, '.d.ts')), collected)
  }
}

/** Returns the name of the package of a bundled file; undefined for a file of this repository. */
function packageOf(id: string): string | undefined {
  return /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1]?.replace('/', '-')
}

/** Minifies libraries and removes their source maps, which would otherwise be half of the package. */
const minifiedLibraries: Plugin = {
  name: 'minified libraries',
  transform: {
    filter: { id: /\/node_modules\// },
    handler: (code) => ({ code, map: { mappings: '' } }),
  },
  renderChunk(code, { fileName, moduleIds }) {
    if (moduleIds.some((id) => packageOf(id) === undefined)) return null
    return {
      code: minifySync(fileName, code, { module: true, mangle: { keepNames: true } }).code,
      map: { mappings: '' },
    }
  },
}

const rewriteCounts = new RewriteCounts()
await build({
  input: Object.fromEntries(
    exportedPaths.map((path) => [path.replace(/\.ts$/, ''), join(root, 'src/exports', path)]),
  ),
  checks: { ineffectiveDynamicImport: false },
  platform: 'node',
  plugins: [
    createAliasPlugin(rewriteCounts),
    createStylesheetPlugin(rewriteCounts),
    minifiedLibraries,
    licencePlugin(),
  ],
  output: {
    dir: outputFolder,
    format: 'esm',
    sourcemap: true,
    // The maps name lines of the sources; with the sources themselves they would be a quarter of the package.
    sourcemapExcludeSources: true,
    // The declarations have the documentation of what is exported.
    comments: { jsdoc: false },
    codeSplitting: {
      groups: [{ debugName: 'library', name: (id) => packageOf(id) ?? null, test: /\/node_modules\// }],
    },
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
  },
})

const typesFolder = mkdtempSync(join(tmpdir(), 'refcheck-types-'))
try {
  const config = join(root, '.library.tsconfig.json')
  writeFileSync(
    config,
    JSON.stringify({
      extends: './tsconfig.json',
      compilerOptions: {
        declaration: true,
        emitDeclarationOnly: true,
        sourceMap: false,
        outDir: typesFolder,
      },
      include: ['src/exports'],
    }),
  )
  try {
    execFileSync(join(root, 'node_modules', '.bin', 'tsc'), ['-p', config], { stdio: 'inherit' })
  } finally {
    rmSync(config)
  }
  const files = new Set<string>()
  for (const path of exportedPaths)
    collectDeclarations(join(typesFolder, 'exports', path.replace(/\.ts$/, '.d.ts')), files)
  for (const file of files) {
    const target = join(outputFolder, 'types', relative(typesFolder, file))
    mkdirSync(dirname(target), { recursive: true })
    cpSync(file, target)
  }
} finally {
  rmSync(typesFolder, { recursive: true, force: true })
}

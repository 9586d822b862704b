/*
 * Builds dist/: the program and its libraries as CommonJS chunks with one entry per command, which starts fastest.
 * Run: npm run build
 */
import { createHash } from 'node:crypto'
import { cpSync, globSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { build, type OutputOptions, type RolldownOutput } from 'rolldown'

import { groups, groupPattern, requireMatchedPatterns } from './groups.ts'
import { licencePlugin } from './licences.ts'
import {
  createAliasPlugin,
  createLazyFsPlugin,
  lazyChunkEntries,
  createLazyChunkPlugin,
  createLazyRequirePlugins,
  RewriteCounts,
  createStylesheetPlugin,
} from './plugins.ts'

const root = join(import.meta.dirname, '..', '..')
const outputFolder = join(root, 'dist')

/**
 * Returns the source file of each entry by its path in dist without extension. oclif finds commands by these paths.
 */
function entries(): Record<string, string> {
  const entriesFrom = (folder: string, pattern: string, outputPath: string): [string, string][] => {
    const paths = globSync(pattern, { cwd: join(root, folder) })
    if (paths.length === 0) throw new Error(`no file of ${folder} is ${pattern}`)
    return paths.map((path) => [join(outputPath, path.replace(/\.[jt]s$/, '')), join(root, folder, path)])
  }
  return Object.fromEntries([
    ...entriesFrom('src/commands', '**/*.ts', 'commands'),
    ...['start/start', 'help', 'command-not-found'].flatMap((path) =>
      entriesFrom('src/cli', `${path}.ts`, 'cli'),
    ),
    ...entriesFrom('node_modules/@oclif/plugin-help/lib/commands', '**/*.js', 'commands'),
    ...lazyChunkEntries(),
  ])
}

const output: OutputOptions = {
  dir: outputFolder,
  format: 'cjs',
  exports: 'named',
  minify: true,
  // oclif distinguishes its errors by class names.
  keepNames: true,
  entryFileNames: '[name].cjs',
  chunkFileNames: 'chunks/[name]-[hash].cjs',
}

/** Returns the chunks among the files of a build. */
function chunksOf(files: RolldownOutput['output']): { fileName: string; moduleIds: string[] }[] {
  return files.flatMap((file) => (file.type === 'chunk' ? [file] : []))
}

/** Writes which packages each file contains, for the test of what each kind of command may load. */
function writeContents(files: RolldownOutput['output']): void {
  const packageNames = (ids: readonly string[]): string[] => [
    ...new Set(ids.flatMap((id) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1] ?? [])),
  ]
  const contents = chunksOf(files).map(({ fileName, moduleIds }) => [
    fileName,
    packageNames(moduleIds).sort(),
  ])
  writeFileSync(join(outputFolder, 'contents.json'), JSON.stringify(Object.fromEntries(contents)))
}

/** Writes a hash of the build, so that compiled code of another build is never used for this one. */
function writeBuildId(files: RolldownOutput['output']): void {
  const hash = createHash('sha256')
  for (const file of files) hash.update(file.fileName).update(file.type === 'chunk' ? file.code : file.source)
  writeFileSync(join(outputFolder, 'build-id'), hash.digest('hex'))
}

const rewriteCounts = new RewriteCounts()
rmSync(outputFolder, { recursive: true, force: true })
const { output: files } = await build({
  input: entries(),
  // Some modules are imported both statically and dynamically; test/acceptance/loading.test.ts checks what each kind
  // of command loads.
  checks: { ineffectiveDynamicImport: false },
  platform: 'node',
  plugins: [
    createAliasPlugin(rewriteCounts),
    createLazyFsPlugin(join(root, 'src'), rewriteCounts),
    // Runs before the plugins of lazy requires, which rewrite the requires that remain. Modules are identified by the
    // real path of node_modules, which may be a symbolic link.
    createLazyChunkPlugin(realpathSync(join(root, 'node_modules')), rewriteCounts),
    ...createLazyRequirePlugins(rewriteCounts),
    createStylesheetPlugin(rewriteCounts),
    licencePlugin(),
  ],
  // This package has a native part, which cannot be bundled.
  external: ['@napi-rs/keyring'],
  output: {
    ...output,
    codeSplitting: {
      groups: groups.map((group) => ({
        name: group.name,
        test: groupPattern(group),
        priority: group.priority ?? 0,
      })),
    },
  },
})
requireMatchedPatterns(chunksOf(files).flatMap(({ moduleIds }) => moduleIds))
// jq-wasm reads jq from the folder "build" next to the chunk that contains the package.
cpSync(
  join(root, 'node_modules', 'jq-wasm', 'dist', 'build', 'jq.wasm'),
  join(outputFolder, 'chunks', 'build', 'jq.wasm'),
)
console.log(`rewrites: ${rewriteCounts.summary().join(', ')}`)
writeContents(files)
writeBuildId(files)
// This module is loaded before all others, so it is built separately and shares no chunk with them.
await build({
  input: { 'cli/start/compile-cache': join(root, 'src/cli/start/compile-cache.ts') },
  platform: 'node',
  output,
})

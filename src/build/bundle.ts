/*
 * Makes dist/: the program as CommonJS chunks with its libraries inside, one entry a command, because
 * that is what starts fastest. Run: npm run build
 */
import { createHash } from 'node:crypto'
import { globSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { build, type OutputOptions, type RolldownOutput } from 'rolldown'

import { groups, groupTest, requireMatches } from './groups.ts'
import { licencePlugin } from './licences.ts'
import {
  aliasPlugin,
  lateFsPlugin,
  lazyChunkEntries,
  lazyChunkPlugin,
  lazyRequirePlugins,
  Rewrites,
  stylesheetPlugin,
} from './plugins.ts'

const root = join(import.meta.dirname, '..', '..')
const out = join(root, 'dist')

/** Entries of dist by their path in it, without ending. oclif finds commands by these paths. */
function entries(): Record<string, string> {
  const from = (folder: string, pattern: string, as: string): [string, string][] => {
    const paths = globSync(pattern, { cwd: join(root, folder) })
    if (paths.length === 0) throw new Error(`no file of ${folder} is ${pattern}`)
    return paths.map((path) => [join(as, path.replace(/\.[jt]s$/, '')), join(root, folder, path)])
  }
  return Object.fromEntries([
    ...from('src/commands', '**/*.ts', 'commands'),
    ...['start/start', 'help', 'command-not-found'].flatMap((path) => from('src/cli', `${path}.ts`, 'cli')),
    ...from('node_modules/@oclif/plugin-help/lib/commands', '**/*.js', 'commands'),
    ...lazyChunkEntries(),
  ])
}

const output: OutputOptions = {
  dir: out,
  format: 'cjs',
  exports: 'named',
  minify: true,
  // oclif's errors are distinguished by the names of their classes.
  keepNames: true,
  entryFileNames: '[name].cjs',
  chunkFileNames: 'chunks/[name]-[hash].cjs',
}

/** The chunks among the files of a build. */
function chunksOf(files: RolldownOutput['output']): { fileName: string; moduleIds: string[] }[] {
  return files.flatMap((file) => (file.type === 'chunk' ? [file] : []))
}

/** Which packages are in which file, for the test of what each kind of command may load. */
function writeContents(files: RolldownOutput['output']): void {
  const packagesOf = (ids: readonly string[]): string[] => [
    ...new Set(ids.flatMap((id) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1] ?? [])),
  ]
  const contents = chunksOf(files).map(({ fileName, moduleIds }) => [fileName, packagesOf(moduleIds).sort()])
  writeFileSync(join(out, 'contents.json'), JSON.stringify(Object.fromEntries(contents)))
}

/** Names what was built, so that compiled code of anything else is never taken for its own. */
function writeBuildId(files: RolldownOutput['output']): void {
  const hash = createHash('sha256')
  for (const file of files) hash.update(file.fileName).update(file.type === 'chunk' ? file.code : file.source)
  writeFileSync(join(out, 'build-id'), hash.digest('hex'))
}

const rewrites = new Rewrites()
rmSync(out, { recursive: true, force: true })
const { output: files } = await build({
  input: entries(),
  // Some of what is loaded late is loaded early elsewhere; test/acceptance/loading.test.ts checks what each kind of command loads.
  checks: { ineffectiveDynamicImport: false },
  platform: 'node',
  plugins: [
    aliasPlugin(rewrites),
    lateFsPlugin(join(root, 'src'), rewrites),
    // Before the lazy requires, which take what it leaves. The folder is where the modules are, which a link to them is not.
    lazyChunkPlugin(realpathSync(join(root, 'node_modules')), rewrites),
    ...lazyRequirePlugins(rewrites),
    stylesheetPlugin(rewrites),
    licencePlugin(),
  ],
  // Its native part cannot be inlined.
  external: ['@napi-rs/keyring'],
  output: {
    ...output,
    codeSplitting: {
      groups: groups.map((group) => ({
        name: group.name,
        test: groupTest(group),
        priority: group.priority ?? 0,
      })),
    },
  },
})
requireMatches(chunksOf(files).flatMap(({ moduleIds }) => moduleIds))
console.log(`places changed: ${rewrites.summary().join(', ')}`)
writeContents(files)
writeBuildId(files)
// It is loaded before everything else, so it shares no chunk with it.
await build({
  input: { 'cli/start/compile-cache': join(root, 'src/cli/start/compile-cache.ts') },
  platform: 'node',
  output,
})

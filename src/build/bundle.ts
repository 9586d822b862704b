/*
 * Makes dist/: the program as CommonJS chunks with its libraries inside, one entry a command, because
 * that is what starts fastest. Run: npm run build
 */
import { globSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { build, type OutputOptions, type Plugin, type RolldownOutput } from 'rolldown'

const root = join(import.meta.dirname, '..', '..')
const out = join(root, 'dist')

/** Entries of dist by their path in it, without ending. oclif finds commands by these paths. */
function entries(): Record<string, string> {
  const from = (folder: string, pattern: string, as: string): [string, string][] =>
    globSync(pattern, { cwd: join(root, folder) }).map((path) => [
      join(as, path.replace(/\.[jt]s$/, '')),
      join(root, folder, path),
    ])
  const plugins = ['help', 'autocomplete'].flatMap((name) =>
    from(`node_modules/@oclif/plugin-${name}/lib/commands`, '**/*.js', 'commands'),
  )
  return Object.fromEntries([
    ...from('src/commands', '**/*.ts', 'commands'),
    ...from('src/cli', '{start/start,help,command-not-found}.ts', 'cli'),
    ...plugins,
    ...Object.keys(asides).map((name) => [`asides/${name}`, `aside:${name}.mjs`]),
  ])
}

/**
 * Turns the requires at the head of a module compiled from TypeScript into requires at first use, as Babel's
 * `lazy` does: of @oclif/core a plain command needs a tenth.
 */
function lazyRequires(code: string): string {
  const names: string[] = []
  const declaration =
    /^(?:const|var) (\w+) = ((?:__import(?:Default|Star)\()?require\(["'][^"']+["']\)(?:\.aside)?\)?);?$/gm
  const declared = code.replace(declaration, (_, name: string, load: string) => {
    names.push(name)
    return `let lazy_${name}; const load_${name} = () => (lazy_${name} ??= ${load});`
  })
  return names.reduce((text, name) => {
    const use = new RegExp(`(new\\s+)?(?<![\\w$."'/])${name}(?![\\w$"'])`, 'g')
    return text.replace(use, (_, made: string | undefined) =>
      made === undefined ? `load_${name}()` : `${made}(load_${name}())`,
    )
  }, declared)
}

/**
 * Modules of libraries that hardly a run needs, required when one does: each an entry of its own, so that the file
 * every run loads stays small.
 */
const asides: Record<string, string> = {
  'oclif-config': '@oclif/core/lib/config/index.js',
  'oclif-help': '@oclif/core/lib/help/index.js',
  'oclif-ux': '@oclif/core/lib/ux/index.js',
  'undici-http2': 'undici/lib/dispatcher/client-h2.js',
  'undici-milo': 'undici/lib/milo/simd.js',
  'undici-milo-plain': 'undici/lib/milo/no-simd.js',
  'undici-llhttp-plain': 'undici/lib/llhttp/llhttp-wasm.js',
  'undici-proxy': 'undici/lib/dispatcher/env-http-proxy-agent.js',
  'undici-body': 'undici/lib/web/fetch/body.js',
  'undici-formdata': 'undici/lib/web/fetch/formdata.js',
  'undici-webidl': 'undici/lib/web/webidl/index.js',
}

const libraries = join(root, 'node_modules')

/** Which aside a require from a file means, if any. */
function asideOf(from: string, required: string): string | undefined {
  const path = required.startsWith('.') ? join(dirname(from), required) : join(libraries, required)
  const written = new Set([path, `${path}.js`, join(path, 'index.js')])
  return Object.entries(asides).find(([, aside]) => written.has(join(libraries, aside)))?.[0]
}

/** Chunks are all in one folder and asides in the one next to it, so the requires stay as they are written here. */
const asideEntries: Plugin = {
  name: 'asides',
  resolveId(id) {
    if (id.startsWith('../asides/')) return { id, external: true }
    return id.startsWith('aside:') ? id : undefined
  },
  load(id) {
    const path = id.startsWith('aside:') ? asides[id.slice('aside:'.length, -'.mjs'.length)] : undefined
    return path === undefined ? undefined : `import aside from '${join(libraries, path)}'\nexport { aside }\n`
  },
  transform: {
    filter: { id: /@oclif\/core\/lib\/|\/undici\/lib\/|\/undici\.cjs$/ },
    handler: (code, id) =>
      code.replace(/\brequire\((["'])([^"']+)\1\)/g, (whole, _, required: string) => {
        const name = asideOf(id, required)
        return name === undefined ? whole : `require("../asides/${name}.cjs").aside`
      }),
  },
}

/**
 * Modules that are always loaded together make one file, because to find and open a file costs more than to run
 * what is in it. A group takes with it what its modules import.
 */
const groups = [
  { name: 'zod', test: /node_modules\/zod\//, priority: 2 },
  {
    name: 'core',
    test: /src\/(cli\/(main|base-command)|errors\/.*|host\/(clock|env|loopback|text)|domain\/session\/credentials)\.ts/,
    priority: 1,
  },
  { name: 'settings', test: /src\/(cli\/session-sources|domain\/session\/chosen-profile)\.ts/, priority: 1 },
  { name: 'session', test: /src\/domain\/session\/session\.ts/ },
  { name: 'wire', test: /src\/(cli\/open-http|api\/service)\.ts/ },
  { name: 'ledger', test: /src\/(store\/ledger\/open|domain\/quota\/governor)\.ts/ },
]

const output: OutputOptions = {
  dir: out,
  format: 'cjs',
  exports: 'named',
  minify: true,
  // oclif's errors are told apart by the names of their classes.
  keepNames: true,
  entryFileNames: '[name].cjs',
  chunkFileNames: 'chunks/[name]-[hash].cjs',
}

/** Which packages are in which file, for the test of what each kind of command may load. */
function writeContents(files: RolldownOutput['output']): void {
  const packagesOf = (ids: readonly string[]): string[] => [
    ...new Set(ids.flatMap((id) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1] ?? [])),
  ]
  const contents = files.flatMap((file) =>
    file.type === 'chunk' ? [[file.fileName, packagesOf(file.moduleIds).sort()]] : [],
  )
  writeFileSync(join(out, 'contents.json'), JSON.stringify(Object.fromEntries(contents)))
}

rmSync(out, { recursive: true, force: true })
const { output: files } = await build({
  input: entries(),
  // Some of what is loaded late is loaded early elsewhere; test/acceptance/loading.test.ts looks at what counts.
  checks: { ineffectiveDynamicImport: false },
  platform: 'node',
  plugins: [
    asideEntries,
    {
      name: 'lazy-requires',
      transform: {
        filter: { id: /(@oclif\/core\/lib\/.*|undici\/lib\/dispatcher\/client)\.js$/ },
        handler: lazyRequires,
      },
    },
  ],
  resolve: { alias: { undici$: join(import.meta.dirname, 'undici.cjs') } },
  // Its native part cannot be inlined.
  external: ['@napi-rs/keyring'],
  output: { ...output, codeSplitting: { groups } },
})
writeContents(files)
// It is loaded before everything else, so it shares no chunk with it.
await build({
  input: { 'cli/start/compile-cache': join(root, 'src/cli/start/compile-cache.ts') },
  platform: 'node',
  output,
})

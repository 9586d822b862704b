/*
 * Makes dist/: the program as CommonJS chunks with its libraries inside, one entry a command, because
 * that is what starts fastest. Run: npm run build
 */
import { globSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { rolldown } from 'rolldown'

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
    ...from('src/cli', '{start/{boot,start},help,command-not-found}.ts', 'cli'),
    ...plugins,
  ])
}

/**
 * Turns the requires at the head of a module compiled from TypeScript into requires at first use, as Babel's
 * `lazy` does: of @oclif/core a plain command needs a tenth.
 */
function lazyRequires(code: string): string {
  const names: string[] = []
  const declaration = /^(?:const|var) (\w+) = ((?:__import(?:Default|Star)\()?require\("[^"]+"\)\)?);$/gm
  const declared = code.replace(declaration, (_, name: string, load: string) => {
    names.push(name)
    return `let lazy_${name}; const load_${name} = () => (lazy_${name} ??= ${load});`
  })
  return names.reduce(
    (text, name) => text.replace(new RegExp(`(?<![\\w$."'])${name}(?![\\w$"'])`, 'g'), `(load_${name}())`),
    declared,
  )
}

rmSync(out, { recursive: true, force: true })
const bundle = await rolldown({
  input: entries(),
  platform: 'node',
  plugins: [
    {
      name: 'lazy-requires',
      transform: { filter: { id: /@oclif\/core\/lib\/.*\.js$/ }, handler: lazyRequires },
    },
  ],
  // Its native part cannot be inlined.
  external: ['@napi-rs/keyring'],
})
await bundle.write({
  dir: out,
  format: 'cjs',
  exports: 'named',
  minify: true,
  // oclif's errors are told apart by the names of their classes.
  keepNames: true,
  entryFileNames: '[name].cjs',
  chunkFileNames: 'chunks/[name]-[hash].cjs',
})
await bundle.close()

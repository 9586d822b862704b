import type { Plugin } from 'rolldown'

import type { Rewrites } from './rewrites.ts'

/** What is rewritten: the package, and its files. */
const lazyPackages = [
  { name: '@oclif/core', files: /\/@oclif\/core\/lib\/.*\.js$/ },
  { name: 'undici', files: /\/undici\/lib\/dispatcher\/client\.js$/ },
]

const label = (name: string): string => `lazy requires of ${name}`

/** Names of the rewrites that must change something. */
export const lazyRequireNames: readonly string[] = lazyPackages.map(({ name }) => label(name))

/**
 * Turns the requires at the head of a module compiled from TypeScript into requires at first use, as Babel's
 * `lazy` does: of @oclif/core a plain command needs a tenth. Without this the bundle does not start: modules of @oclif/core
 * require each other in circles.
 */
export function lazyRequires(code: string): { code: string; places: number } {
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
  return { code: rewritten, places: names.length }
}

export function lazyRequirePlugins(rewrites: Rewrites): Plugin[] {
  return lazyPackages.map(({ name, files }) => ({
    name: label(name),
    transform: {
      filter: { id: files },
      handler(text) {
        const { code, places } = lazyRequires(text)
        rewrites.count(label(name), places)
        return code
      },
    },
  }))
}

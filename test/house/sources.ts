import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '..', '..')

export interface Source {
  /** From the package's folder, with forward slashes. */
  path: string
  text: string
}

/** The files of a folder by a glob below the package's folder. */
export function sources(pattern: string): Source[] {
  return globSync(pattern, { cwd: root, exclude: (name) => name === 'node_modules' })
    .map((path) => path.replaceAll('\\', '/'))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}

/** An import as it stands in a source: what from, and whether only types. */
export interface Import {
  from: string
  typesOnly: boolean
}

/** Static and dynamic imports, and re-exports. */
export function importsOf(text: string): Import[] {
  const found: Import[] = []
  for (const [, clause = '', from = ''] of text.matchAll(
    /^(?:import|export)\s([^'"`;]*?)from\s+'([^']+)'/gm,
  )) {
    found.push({ from, typesOnly: isTypesOnly(clause) })
  }
  for (const [, from = ''] of text.matchAll(/^import\s+'([^']+)'/gm)) found.push({ from, typesOnly: false })
  for (const [, from = ''] of text.matchAll(/\bimport\(\s*'([^']+)'/g)) found.push({ from, typesOnly: false })
  return found
}

function isTypesOnly(clause: string): boolean {
  if (/^type\s/.test(clause.trim())) return true
  const names = /^\{([^}]*)\}\s*$/.exec(clause.trim())?.[1]
  return (
    names !== undefined && names.split(',').every((name) => name.trim() === '' || /^type\s/.test(name.trim()))
  )
}

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { parseSync, Visitor } from 'rolldown/utils'

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

/** A declared name, or the text of a comment. */
export interface Named {
  name: string
  start: number
  isMember?: boolean
}

type Node = { type: string } & Record<string, unknown>

/** The identifiers that a pattern declares: those of its leaves, unless they repeat the name of a property. */
function declaredBy(pattern: unknown): Named[] {
  const node = pattern as Node | null
  if (node === null) return []
  if (node.type === 'Identifier') return [node as unknown as Named]
  if (node.type === 'ObjectPattern')
    return (node['properties'] as Node[]).flatMap((property) => {
      if (property.type === 'RestElement') return declaredBy(property['argument'])
      return property['shorthand'] === true ? [] : declaredBy(property['value'])
    })
  if (node.type === 'ArrayPattern') return (node['elements'] as Node[]).flatMap(declaredBy)
  return declaredBy(node['left'] ?? node['argument'] ?? node['parameter'] ?? null)
}

/** Names that a source declares (variables, parameters, functions, types, members), and its comments. */
export function declarationsOf({ path, text }: Source): { names: Named[]; comments: Named[] } {
  const { program, comments } = parseSync(path, text)
  const found: Named[] = []
  const pattern = (node: unknown): void => void found.push(...declaredBy(node))
  const callable = (node: { id?: unknown; params?: unknown[] }): void => {
    pattern(node.id ?? null)
    for (const parameter of node.params ?? []) pattern(parameter)
  }
  const identified = (node: { id: unknown }): void => pattern(node.id)
  const member = (node: { key: unknown; computed: boolean }): void => {
    const { type, name, start } = node.key as Node & Named
    if (!node.computed && type.endsWith('Identifier')) found.push({ name, start, isMember: true })
  }
  new Visitor({
    VariableDeclarator: identified,
    FunctionDeclaration: callable,
    FunctionExpression: callable,
    ArrowFunctionExpression: callable,
    ClassDeclaration: identified,
    TSInterfaceDeclaration: identified,
    TSTypeAliasDeclaration: identified,
    PropertyDefinition: member,
    MethodDefinition: member,
    TSPropertySignature: member,
    TSMethodSignature: member,
    CatchClause: ({ param }) => pattern(param),
  }).visit(program)
  return { names: found, comments: comments.map(({ value, start }) => ({ name: value, start })) }
}

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { parseSync, Visitor } from 'rolldown/utils'

export const root = join(import.meta.dirname, '..', '..')

export interface Source {
  /** The path relative to the package's folder, with forward slashes. */
  path: string
  text: string
}

/** Reads the files that match a glob pattern relative to the package's folder. */
export function sources(pattern: string): Source[] {
  return globSync(pattern, { cwd: root, exclude: (name) => name === 'node_modules' })
    .map((path) => path.replaceAll('\\', '/'))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}

/** An import of a source: the path or package, and whether only types are imported. */
export interface Import {
  from: string
  typesOnly: boolean
}

/** Returns the static and dynamic imports and the re-exports of a source. */
export function listImports(text: string): Import[] {
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

/** Returns the identifiers that a pattern declares, without shorthands, which repeat the name of a property. */
function listDeclared(pattern: unknown): Named[] {
  const node = pattern as Node | null
  if (node === null) return []
  if (node.type === 'Identifier') return [node as unknown as Named]
  if (node.type === 'ObjectPattern')
    return (node['properties'] as Node[]).flatMap((property) => {
      if (property.type === 'RestElement') return listDeclared(property['argument'])
      return property['shorthand'] === true ? [] : listDeclared(property['value'])
    })
  if (node.type === 'ArrayPattern') return (node['elements'] as Node[]).flatMap(listDeclared)
  return listDeclared(node['left'] ?? node['argument'] ?? node['parameter'] ?? null)
}

/** Returns the names that a source declares (variables, parameters, functions, types, members), and its comments. */
export function listDeclarations({ path, text }: Source): { names: Named[]; comments: Named[] } {
  const { program, comments } = parseSync(path, text)
  const found: Named[] = []
  const addPattern = (node: unknown): void => void found.push(...listDeclared(node))
  const addCallable = (node: { id?: unknown; params?: unknown[] }): void => {
    addPattern(node.id ?? null)
    for (const parameter of node.params ?? []) addPattern(parameter)
  }
  const addIdentifier = (node: { id: unknown }): void => addPattern(node.id)
  const addMember = (node: { key: unknown; computed: boolean }): void => {
    const { type, name, start } = node.key as Node & Named
    if (!node.computed && type.endsWith('Identifier')) found.push({ name, start, isMember: true })
  }
  new Visitor({
    VariableDeclarator: addIdentifier,
    FunctionDeclaration: addCallable,
    FunctionExpression: addCallable,
    ArrowFunctionExpression: addCallable,
    ClassDeclaration: addIdentifier,
    TSInterfaceDeclaration: addIdentifier,
    TSTypeAliasDeclaration: addIdentifier,
    PropertyDefinition: addMember,
    MethodDefinition: addMember,
    TSPropertySignature: addMember,
    TSMethodSignature: addMember,
    CatchClause: ({ param }) => addPattern(param),
  }).visit(program)
  return { names: found, comments: comments.map(({ value, start }) => ({ name: value, start })) }
}

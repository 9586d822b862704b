interface Schema {
  type?: string | readonly string[]
  anyOf?: readonly Schema[]
  oneOf?: readonly Schema[]
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
  additionalProperties?: Schema | boolean
  items?: Schema
  prefixItems?: readonly Schema[]
}

interface Key {
  types: Set<string>
  isOptional: boolean
}

/**
 * Returns the keys and types of each command's --json output, one per line: `batch run: counts.total integer`. `[]`
 * is an entry of an array, `*` is any name of a map, and `?` follows an optional key. Errors have the same shape for
 * all commands and are listed once for `*`.
 */
export function listJsonKeys(schemas: Readonly<Record<string, object>>): string[] {
  const lines = Object.entries(schemas).flatMap(([command, schema]) => {
    const keys = new Map<string, Key>()
    collectKeys(schema, '', false, keys)
    return [...keys].map(([path, { types, isOptional }]) => {
      const name = /^error\b/.test(path) ? '*' : command
      return `${name}: ${path === '' ? '(document)' : path}${isOptional ? '?' : ''} ${[...types].sort().join('|')}`
    })
  })
  return [...new Set(lines)].sort()
}

function collectKeys(schema: Schema, path: string, isOptional: boolean, keys: Map<string, Key>): void {
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) {
    for (const each of choices) collectKeys(each, path, isOptional, keys)
    return
  }
  const key = keys.get(path) ?? { types: new Set(), isOptional: false }
  keys.set(path, key)
  key.isOptional ||= isOptional
  for (const type of [schema.type ?? 'any'].flat()) key.types.add(type)
  const prefix = path === '' ? '' : `${path}.`
  for (const [name, value] of Object.entries(schema.properties ?? {})) {
    collectKeys(value, prefix + name, schema.required?.includes(name) !== true, keys)
  }
  if (typeof schema.additionalProperties === 'object') {
    collectKeys(schema.additionalProperties, `${prefix}*`, false, keys)
  }
  for (const entry of [schema.items, ...(schema.prefixItems ?? [])]) {
    if (entry !== undefined) collectKeys(entry, `${path}[]`, false, keys)
  }
}

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
 * The keys of what each command prints with --json and their types, a line each: `batch run: counts.total integer`.
 * `[]` is an entry of an array, `*` any name of a map, and `?` follows a key that may be missing. The error of a
 * command has the same shape everywhere, and is listed once for `*`.
 */
export function jsonKeys(schemas: Readonly<Record<string, object>>): string[] {
  const lines = Object.entries(schemas).flatMap(([command, schema]) => {
    const keys = new Map<string, Key>()
    collect(schema, '', false, keys)
    return [...keys].map(([path, { types, isOptional }]) => {
      const name = /^error\b/.test(path) ? '*' : command
      return `${name}: ${path === '' ? '(document)' : path}${isOptional ? '?' : ''} ${[...types].sort().join('|')}`
    })
  })
  return [...new Set(lines)].sort()
}

function collect(schema: Schema, path: string, isOptional: boolean, keys: Map<string, Key>): void {
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) {
    for (const each of choices) collect(each, path, isOptional, keys)
    return
  }
  const key = keys.get(path) ?? { types: new Set(), isOptional: false }
  keys.set(path, key)
  key.isOptional ||= isOptional
  for (const type of [schema.type ?? 'any'].flat()) key.types.add(type)
  const prefix = path === '' ? '' : `${path}.`
  for (const [name, value] of Object.entries(schema.properties ?? {})) {
    collect(value, prefix + name, schema.required?.includes(name) !== true, keys)
  }
  if (typeof schema.additionalProperties === 'object') {
    collect(schema.additionalProperties, `${prefix}*`, false, keys)
  }
  for (const entry of [schema.items, ...(schema.prefixItems ?? [])]) {
    if (entry !== undefined) collect(entry, `${path}[]`, false, keys)
  }
}

/** A statement as PostgreSQL takes it, prepared under a name, with the order of its values. */
export interface Statement {
  name: string
  text: string
  order: string[]
}

/** `:name` as `$1`, the same name the same number; a cast (`::text`) stays. */
export function numbered(sql: string, name: string): Statement {
  const order: string[] = []
  const text = sql.replaceAll(/(?<![:\w]):([a-z_]\w*)/gi, (_, value: string) => {
    if (!order.includes(value)) order.push(value)
    return `$${order.indexOf(value) + 1}`
  })
  return { name, text, order }
}

/** PostgreSQL keeps no NUL in a text. */
export function storable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(storable)
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value
}

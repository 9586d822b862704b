type Json = Record<string, unknown>

/**
 * An OpenAPI 3.1 document as 3.0.4, for generators that know no 3.1. Webhooks become the extension `x-webhooks`; their
 * schemas stay. Of what 3.0 lacks it knows what our documents use: null, const, numeric exclusive limits, names of
 * properties, and the identifier of a licence.
 */
export function toOpenApi30(document: Json): Json {
  const { webhooks, info, ...rest } = document
  const { license, ...about } = info as { license: { name: string } }
  return converted({
    ...rest,
    openapi: '3.0.4',
    info: { ...about, license: { name: license.name } },
    'x-webhooks': webhooks,
  }) as Json
}

function converted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(converted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, each]) => [
    key,
    // Examples are data, and the names of properties are no keywords.
    key === 'example' ? each : key === 'properties' ? convertedEach(each as Json) : converted(each),
  ])
  return keywords.reduce((schema, convert) => convert(schema), Object.fromEntries(entries) as Json)
}

const convertedEach = (schemas: Json): Json =>
  Object.fromEntries(Object.entries(schemas).map(([name, each]) => [name, converted(each)]))

const isNull = (schema: unknown): boolean => {
  const { nullable, enum: values } = schema as { nullable?: boolean; enum?: unknown[] }
  return nullable === true && values?.length === 1 && values[0] === null
}

/** One keyword each; a schema in which it does not occur is returned as it is. */
const keywords: ((schema: Json) => Json)[] = [
  ({ type, ...rest }) => {
    if (type === 'null') return { ...rest, type: 'object', nullable: true, enum: [null] }
    if (!Array.isArray(type)) return type === undefined ? rest : { type, ...rest }
    return { type: type.find((name) => name !== 'null') as unknown, nullable: true, ...rest }
  },
  ({ anyOf, ...rest }) => {
    if (!Array.isArray(anyOf)) return rest
    const [only, ...others] = anyOf.filter((each) => !isNull(each)) as Json[]
    if (only === undefined || others.length > 0 || anyOf.length === 1) return { anyOf, ...rest }
    return { ...('$ref' in only ? { allOf: [only] } : only), ...rest, nullable: true }
  },
  (schema) => {
    const { const: only, ...rest } = schema
    return 'const' in schema ? { type: typeof only, ...rest, enum: [only] } : schema
  },
  (schema) => {
    const { exclusiveMinimum, ...rest } = schema
    return typeof exclusiveMinimum === 'number'
      ? { ...rest, minimum: exclusiveMinimum, exclusiveMinimum: true }
      : schema
  },
  (schema) => Object.fromEntries(Object.entries(schema).filter(([key]) => key !== 'propertyNames')),
]

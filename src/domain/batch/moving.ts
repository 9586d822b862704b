import type { PackageSchema } from '../../contract/package-schema.ts'
import { InvalidInputError } from '../../errors/kinds.ts'
import { readJson } from '../form/json-text.ts'
import { sentence } from '../form/problem.ts'
import { validateBody } from '../form/validate.ts'

/** A row's body for another package; or what keeps it from fitting that one. */
export function movedBody(
  body: Uint8Array,
  schema: PackageSchema,
): { body: Uint8Array; problem?: undefined } | { problem: string; body?: undefined } {
  const order = { ...(readJson(new TextDecoder().decode(body)).value as object), package_id: schema.id }
  const { problems } = validateBody(order, schema)
  const [problem] = problems ?? []
  return problem === undefined
    ? { body: new TextEncoder().encode(JSON.stringify(order)) }
    : { problem: sentence(problem) }
}

const mostNamed = 3

/** What a move fails with where rows do not fit the successor: nothing is moved. */
export function notMovable(
  packageId: number,
  unfit: readonly { row: number; problem: string }[],
): InvalidInputError | undefined {
  if (unfit.length === 0) return undefined
  const named = unfit.slice(0, mostNamed).map(({ row, problem }) => `row ${row}: ${problem}`)
  const rest = unfit.length > mostNamed ? `; and ${unfit.length - mostNamed} more` : ''
  return new InvalidInputError(
    `${unfit.length} ${unfit.length === 1 ? 'row does' : 'rows do'} not fit package ${packageId}: ${named.join('; ')}${rest}`,
    {
      hint: `Nothing was moved. Add what is missing to the file and run it: refcheck batch run FILE --package ${packageId}; people ordered before are held, not ordered again.`,
    },
  )
}

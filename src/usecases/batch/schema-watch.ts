import { readJson } from '../../domain/form/json-text.ts'
import { sentence } from '../../domain/form/problem.ts'
import { validateBody } from '../../domain/form/validate.ts'
import { IncompleteError } from '../../errors/kinds.ts'
import { loadSchema } from '../form/load-schema.ts'
import type { RunPorts } from './ports.ts'

/**
 * "A 400 for an unknown or missing field: read the schema again, check the remaining rows against it,
 * and halt if they no longer fit" (ordering protocol). What is to be told, or undefined where all fit.
 */
export async function rowsNoLongerFit(
  ports: RunPorts,
  batchId: string,
  packageId: number,
): Promise<IncompleteError | undefined> {
  const schema = await loadSchema(packageId, { ...ports, refresh: true })
  let invalid = 0
  let first: string | undefined
  for await (const { row, packageId: wanted, body } of ports.batches.bodies(batchId, {
    states: ['pending'],
  })) {
    if (wanted !== packageId) continue
    const { problems } = validateBody(readJson(new TextDecoder().decode(body)).value, schema)
    const problem = problems?.[0]
    if (problem === undefined) continue
    invalid += 1
    first ??= `row ${row}: ${sentence(problem)}`
  }
  if (first === undefined) return undefined
  return new IncompleteError(
    `the schema of package ${packageId} has changed: ${invalid} of the rows not sent no longer match it (${first})`,
    {
      hint: `Show its fields with: refcheck schema show ${packageId}`,
    },
  )
}

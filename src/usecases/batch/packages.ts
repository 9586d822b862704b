import type { Services } from '../services.ts'
import type { Package } from '../../contract/package.ts'
import { findSuccessors, likelySuccessor, schemaChanges } from '../../domain/batch/package-replacement.ts'
import { RefcheckError, NotFoundError, IncompleteError } from '../../errors/kinds.ts'
import { type SchemaServices, loadSchema } from '../form/package.ts'
import { readJson } from '../../domain/form/json-text.ts'
import { problemText } from '../../domain/form/problem.ts'
import { validateBody } from '../../domain/form/validate.ts'

interface LinkServices extends Pick<Services, 'api' | 'waiting' | 'clock'> {
  signal?: AbortSignal | undefined
}

/**
 * Reads the service's packages, and stores the replaced ones with their likely successors, for comparing
 * orders. Throws where they cannot be read: nothing is ordered then, since people may have been ordered under
 * a package that was replaced. Costs one read.
 */
export async function readAndLinkPackages({
  api,
  waiting,
  clock,
  signal,
}: LinkServices): Promise<readonly Package[]> {
  const packages = await api.listPackages(undefined, signal)
  await waiting.linkPackages(api.baseUrl, findSuccessors(packages), clock.now())
  return packages
}

/**
 * A NotFoundError that says what became of the first of `packageIds` that cannot be ordered, by the service's
 * `packages`. It names the likely successor ("a new required field creates a new package version with a new
 * `id`") and what differs in the schema of that one; for a batch (`batchId`) also the command that moves it.
 * Undefined where all can be ordered.
 */
export async function packageGoneError(
  ports: SchemaServices,
  packages: readonly Package[],
  packageIds: readonly number[],
  batchId?: string,
): Promise<NotFoundError | undefined> {
  const active = new Set(packages.filter(({ status }) => status === 'ACTIVE').map(({ id }) => id))
  const packageId = packageIds.find((id) => !active.has(id))
  if (packageId === undefined) return undefined
  const known = packages.find(({ id }) => id === packageId)
  const what =
    known === undefined
      ? `package ${packageId} is no longer available to this user`
      : `package ${packageId} ("${known.name}") is ${known.status} and can no longer be ordered`
  const successor = known && likelySuccessor(known, packages)
  const next =
    successor === undefined
      ? 'List the packages that can be ordered with: refcheck packages list --status active'
      : await successorText(ports, packageId, successor)
  const move =
    batchId === undefined
      ? ''
      : ` Move what is left of the batch to it with: refcheck batch move ${batchId} --package ${successor?.id ?? 'N'}`
  return new NotFoundError(what, { hint: `${next}${move}` })
}

async function successorText(ports: SchemaServices, packageId: number, successor: Package): Promise<string> {
  const named = `Its likely successor is package ${successor.id} (same name, newer id).`
  try {
    const [before, after] = [
      await ports.schemas.get(packageId),
      await loadSchema(successor.id, { ...ports, refresh: true }),
    ]
    if (before === undefined) return named
    const changes = schemaChanges(before, after)
    if (changes.length === 0) return `${named} It has the same fields.`
    return `${named} ${changes.map(({ field, change }) => `${field}: ${change}`).join('; ')}.`
  } catch (error) {
    // An unreadable schema of the successor must not hide the error about the package.
    if (error instanceof RefcheckError) return named
    throw error
  }
}

/**
 * "A 400 for an unknown or missing field: read the schema again, check the remaining rows against it,
 * and halt if they no longer fit" (src/docs/ordering.md, section 2). The error, or undefined where all fit.
 */
export async function rowsNoLongerFit(
  ports: SchemaServices & Pick<Services, 'batches'>,
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
    first ??= `row ${row}: ${problemText(problem)}`
  }
  if (first === undefined) return undefined
  return new IncompleteError(
    `the schema of package ${packageId} has changed: ${invalid} of the rows not sent no longer match it (${first})`,
    {
      hint: `Show its fields with: refcheck schema show ${packageId}`,
    },
  )
}

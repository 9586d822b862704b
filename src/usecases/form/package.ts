import type { Package } from '../../contract/package.ts'
import { InvalidInputError, IoError, NotFoundError } from '../../errors/kinds.ts'
import type { Prompter } from '../../prompt/prompter.ts'
import { formatCount } from '../../domain/wording/text.ts'
import type { PackageSchema } from '../../contract/package-schema.ts'
import type { Services } from '../services.ts'

export const activePackages = (packages: readonly Package[]): Package[] =>
  packages.filter(({ status }) => status === 'ACTIVE')

/** Returns the only ACTIVE package, or the one that the user chooses. `initial`: the package that is preselected. */
export async function choosePackage(
  prompter: Prompter,
  packages: readonly Package[],
  initial?: Package,
): Promise<Package> {
  const active = activePackages(packages)
  const [first] = active
  if (first === undefined) {
    const reason = packages.length === 0 ? 'there are no packages' : 'none of the packages is ACTIVE'
    throw new InvalidInputError(`this user can order nothing: ${reason}`, {
      hint: 'An Owner of the organisation can make one available. List the packages with: refcheck packages list',
      field: 'package_id',
    })
  }
  if (active.length === 1) return first
  return prompter.select({
    message: 'Which package?',
    isSearchable: true,
    initial,
    choices: active.map((choice) => ({
      value: choice,
      label: `${choice.name} (${String(choice.id)})`,
      detail: describeContents(choice),
    })),
  })
}

/** Describes the checks of a package, such as "Reference check (at least 2 referees), Police check (ACIC)". */
function describeContents({ details }: Package): string {
  const survey = details.reference_survey
  const references =
    survey === null
      ? []
      : [`${survey.name ?? 'Reference check'} (at least ${formatCount(survey.min_referees, 'referee')})`]
  const background = details.background_checks.map(({ check_name, partner_name }) => {
    const name = check_name ?? 'Background check'
    return partner_name === null ? name : `${name} (${partner_name})`
  })
  return [...references, ...background].join(', ')
}

export interface SchemaServices extends Pick<Services, 'api' | 'schemas'> {
  signal?: AbortSignal | undefined
}

export interface SchemaSource extends SchemaServices {
  /** Whether to read the schema from the service although it is cached. */
  refresh?: boolean | undefined
}

/**
 * Returns a package's schema from the cache, or else from the service, and caches it. "The schema of an
 * existing package id stays stable" (API document, "Package status").
 */
export async function loadSchema(packageId: number, source: SchemaSource): Promise<PackageSchema> {
  const { api, schemas, refresh = false, signal } = source
  const cached = refresh ? undefined : await schemas.get(packageId)
  if (cached !== undefined) return cached
  const schema = await api.packageSchema(packageId, signal).catch((error: unknown) => {
    throw toPackageNotFoundError(error, packageId)
  })
  // If the disk refuses the cached schema, the next command reads it from the service again.
  await schemas.put(schema).catch((error: unknown) => {
    if (!(error instanceof IoError)) throw error
  })
  return schema
}

/**
 * Returns an error that names the package: the service's message does not, and is the same for a DISABLED
 * package.
 */
function toPackageNotFoundError(error: unknown, packageId: number): unknown {
  if (!(error instanceof NotFoundError)) return error
  const { status, hint } = error
  return new NotFoundError(`package ${packageId} was not found for this user, or is DISABLED`, {
    status,
    hint,
    cause: error,
  })
}

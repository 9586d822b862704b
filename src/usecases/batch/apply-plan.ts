import type { ColumnChoices } from '../../domain/batch/columns.ts'
import { parsePlan, requireUnchanged } from '../../domain/batch/plan.ts'
import { UsageError } from '../../errors/kinds.ts'
import { type BatchFile, openBatchFile } from './open-file.ts'
import type { Allowances, FilePlace } from './ports.ts'

/** A file, how it is read, and what is allowed with it. */
export interface ToOrder {
  file: BatchFile
  columns: ColumnChoices
  allowances: Allowances
}

/**
 * The file of a kept plan, unchanged since, and how it was read then. `text`: the plan's JSON, `name`: what to
 * call it, `again`: how another one is made, `now`: what is allowed beside what the plan says. Throws where it is not
 * to be run.
 */
export async function appliedPlan(
  place: FilePlace,
  { baseUrl }: { baseUrl: string },
  { text, name, again }: { text: string; name: string; again?: string | undefined },
  now: Allowances,
): Promise<ToOrder> {
  const plan = parsePlan(text, name)
  if (plan.base_url !== baseUrl) {
    throw new UsageError(`the plan is for ${plan.base_url}, but this profile is for ${baseUrl}`, {
      hint: 'Nothing was sent. Run it again with the profile it was made with: --profile NAME',
    })
  }
  const { sheet, map, ignore, default_country, header_row, encoding, hidden, accept_lines } = plan.reading
  const how = {
    sheet: sheet ?? undefined,
    headerRow: header_row ?? undefined,
    encoding: encoding ?? undefined,
  }
  const file = await openBatchFile(place, plan.file, how)
  requireUnchanged(plan, file.sha256, again)
  const columns: ColumnChoices = {
    ...how,
    packageId: plan.package_id ?? undefined,
    hidden: hidden ?? undefined,
    acceptLines: accept_lines,
    map: Object.entries(map).map(([header, column]) => `${header}=${column}`),
    ignore: [...ignore],
    mapping: undefined,
    saveMapping: undefined,
    defaultCountry: default_country ?? undefined,
  }
  // A plan of 0.1.0 says nothing of these.
  const said: Partial<typeof plan> = plan
  const { allow_duplicate = false, allow_similar = false, shared = [], ignore_results = false } = said
  return {
    file,
    columns,
    allowances: {
      allowDuplicate: now.allowDuplicate || allow_duplicate,
      allowSimilar: now.allowSimilar || allow_similar,
      shared: [...now.shared, ...shared],
      ignoreResults: now.ignoreResults || ignore_results,
    },
  }
}

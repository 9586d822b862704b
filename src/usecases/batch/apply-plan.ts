import type { ColumnChoices } from '../../domain/batch/columns.ts'
import { choicesOf } from '../../domain/batch/file-command.ts'
import { allowedBy, parsePlan, planAgain, requireUnchanged } from '../../domain/batch/plan.ts'
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
  const columns = choicesOf(plan.reading, plan.package_id)
  const file = await openBatchFile(place, plan.file, columns)
  const allowed = allowedBy(plan)
  requireUnchanged(plan, file.sha256, again ?? planAgain(plan, name))
  return {
    file,
    columns,
    allowances: {
      allowDuplicate: now.allowDuplicate || allowed.allowDuplicate,
      allowSimilar: now.allowSimilar || allowed.allowSimilar,
      shared: [...now.shared, ...allowed.shared],
      ignoreResults: now.ignoreResults || allowed.ignoreResults,
    },
  }
}

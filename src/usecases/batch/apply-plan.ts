import type { Api } from '../../api/api.ts'
import { UsageError } from '../../errors/kinds.ts'
import { type BatchFile, openBatchFile } from './open-file.ts'
import type { Context } from '../../cli/context.ts'
import type { ColumnFlags } from '../../cli/flags/columns.ts'
import { readInput } from '../../compose/input.ts'

/** The file of a kept plan, unchanged since; its reading goes into `flags`. Throws where it is not to be run. */
export async function appliedPlan(
  context: Context,
  { baseUrl }: Api,
  path: string,
  flags: ColumnFlags,
): Promise<BatchFile> {
  const { parsePlan, requireUnchanged } = await import('../../domain/batch/plan.ts')
  const plan = parsePlan((await readInput(context, path, 'the plan')).toString('utf8'), path)
  if (plan.base_url !== baseUrl) {
    throw new UsageError(`the plan is for ${plan.base_url}, and this profile is for ${baseUrl}`, {
      hint: 'Nothing was sent. Choose the profile it was made with: --profile NAME',
    })
  }
  const { sheet, map, ignore, default_country } = plan.reading
  const file = await openBatchFile(context, plan.file, sheet ?? undefined)
  requireUnchanged(plan, file.sha256)
  flags.package = plan.package_id ?? undefined
  flags.sheet = sheet ?? undefined
  flags.map = Object.entries(map).map(([header, column]) => `${header}=${column}`)
  flags.ignore = [...ignore]
  flags['default-country'] = default_country ?? undefined
  return file
}

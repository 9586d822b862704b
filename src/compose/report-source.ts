import type { Context } from '../cli/context.ts'
import type { ReportSource } from '../domain/report/source.ts'
import { UsageError } from '../errors/kinds.ts'
import { readSecretLine } from './input.ts'

interface SourceFlags {
  referee: string | undefined
  request: string[] | undefined
  batch: string | undefined
  'all-completed': boolean
  since: number | undefined
  url: string | undefined
}

/** Reads what was named; UsageError unless it is exactly one thing. */
export async function reportSource(
  context: Context,
  checkId: string | undefined,
  { referee, request, batch, 'all-completed': isAll, since, url }: SourceFlags,
): Promise<ReportSource> {
  if (referee !== undefined && checkId === undefined) {
    throw new UsageError('--referee needs the CHECK_ID of its reference check', {
      hint: 'See both: refcheck request get REQUEST_ID',
    })
  }
  if (since !== undefined && !isAll) {
    throw new UsageError('--since goes with --all-completed', { hint: 'Add --all-completed.' })
  }
  const given = [checkId, request, batch, url, isAll || undefined].filter((each) => each !== undefined)
  if (given.length === 0) {
    throw new UsageError('nothing to download was named', {
      hint: 'Name a CHECK_ID, --request ID, --batch ID, --all-completed, or --url SIGNED_URL.',
    })
  }
  if (given.length > 1) {
    throw new UsageError('CHECK_ID, --request, --batch, --all-completed and --url exclude each other', {
      hint: 'Name one of them.',
    })
  }
  if (url === '-') return { kind: 'url', url: await readSecretLine(context, 'the signed URL') }
  if (url !== undefined) return { kind: 'url', url }
  if (request !== undefined) return { kind: 'requests', requestIds: [...new Set(request)] }
  if (batch !== undefined) return { kind: 'batch', batchId: batch }
  if (isAll) return { kind: 'completed', since }
  return { kind: 'ids', checkId: checkId ?? '', refereeId: referee }
}

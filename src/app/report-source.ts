import type { App } from './app.ts'
import type { ReportSource } from '../domain/report/source.ts'
import { UsageError } from '../errors/kinds.ts'
import { readSecretLine } from './input.ts'
import { requestIdsOf } from './ids.ts'
import { batchIdOf } from './ids.ts'

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
  app: App,
  checkId: string | undefined,
  { referee, request, batch, 'all-completed': isAll, since, url }: SourceFlags,
): Promise<ReportSource> {
  if (referee !== undefined && checkId === undefined) {
    throw new UsageError('--referee requires the CHECK_ID of a reference check', {
      hint: '"refcheck request get" with the id of its request shows both ids.',
    })
  }
  if (since !== undefined && !isAll) {
    throw new UsageError('--since requires --all-completed', {
      hint: 'Add --all-completed, or leave out --since.',
    })
  }
  const given = [checkId, request, batch, url, isAll || undefined].filter((each) => each !== undefined)
  if (given.length === 0) {
    throw new UsageError('no report was named', {
      hint: 'Give one of: CHECK_ID, --request ID, --batch ID, --all-completed, --url SIGNED_URL.',
    })
  }
  if (given.length > 1) {
    throw new UsageError('CHECK_ID, --request, --batch, --all-completed and --url cannot be combined', {
      hint: 'Give one of them.',
    })
  }
  if (url !== undefined) {
    const signed = url === '-' ? await readSecretLine(app.context, 'the signed URL') : url
    app.secrets.addTokenOf(signed)
    return { kind: 'url', url: signed }
  }
  if (request !== undefined)
    return { kind: 'requests', requestIds: [...new Set(await requestIdsOf(app, request, '--request'))] }
  const batchId = await batchIdOf(app, batch)
  if (batchId !== undefined) return { kind: 'batch', batchId }
  if (isAll) return { kind: 'completed', since }
  return { kind: 'ids', checkId: checkId ?? '', refereeId: referee }
}

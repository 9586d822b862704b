/** Whether it is one report and no more. */
export function isSingle(source: ReportSource): source is SingleSource {
  return source.kind === 'ids' || source.kind === 'url'
}

/** One report: a check's or referee's by its ids, or a signed URL. */
export type SingleSource =
  | { kind: 'ids'; checkId: string; refereeId: string | undefined }
  | { kind: 'url'; url: string }

export function idsOf(source: SingleSource): { checkId: string | undefined; refereeId: string | undefined } {
  if (source.kind === 'ids') return source
  const [, checkId, referee] = /\/reports\/([^/?#]+)(?:\/referees\/([^/?#]+))?/.exec(source.url) ?? []
  return { checkId: checkId?.toLowerCase(), refereeId: decoded(referee) }
}

function decoded(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text)
  } catch {
    return text
  }
}

/** What to download: one report, or those of some requests. */
export type ReportSource =
  | SingleSource
  | { kind: 'requests'; requestIds: readonly string[] }
  | { kind: 'batch'; batchId: string }
  /** Every request of the store that is COMPLETED. */
  | { kind: 'completed'; since: number | undefined }
  /** Every report of the store that is ready, whatever its request's status. */
  | { kind: 'all' }

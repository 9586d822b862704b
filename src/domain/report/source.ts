import { UnavailableError } from '../../errors/kinds.ts'
import type { ReportTarget } from './targets.ts'

/** Whether it is one report and no more. */
export function isSingle(source: ReportSource): source is SingleSource {
  return source.kind === 'ids' || source.kind === 'url'
}

/** One report: a check's or referee's by its ids, or a signed URL. */
export type SingleSource =
  | { kind: 'ids'; checkId: string; refereeId: string | undefined }
  | { kind: 'url'; url: string }

export function idsOf(source: SingleSource): { checkId: string | undefined; refereeId: string | undefined } {
  return source.kind === 'ids' ? source : namedBy(source.url)
}

/** The check and referee in the path of a report's URL, whatever stands before it. */
function namedBy(url: string): { checkId: string | undefined; refereeId: string | undefined } {
  const [path = ''] = url.split(/[?#]/)
  const [, checkId, referee] = /\/v1\/reports\/([^/]+)(?:\/referees\/([^/]+))?$/.exec(path) ?? []
  return { checkId: checkId?.toLowerCase(), refereeId: decoded(referee) }
}

/**
 * "A report is filed under a check only when the signed URL's path names that check (and referee)" (ordering
 * protocol): throws an UnavailableError for a URL of another report. UUIDs are compared without case.
 */
export function requireUrlOf({ checkId, refereeId, title }: ReportTarget, url: string): void {
  const named = namedBy(url)
  if (named.checkId === checkId.toLowerCase() && named.refereeId === refereeId) return
  throw new UnavailableError(
    `${title}: its report URL is for another check or referee than ${reportName()}`,
    {
      hint: 'Nothing was filed. Run it again later; if it stays so, ask the provider’s support.',
    },
  )

  function reportName(): string {
    return refereeId === undefined ? checkId : `${checkId}, referee ${refereeId}`
  }
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
  /** Every report of the store that is ready, whatever its request's status; `isOurs`: of these requests alone. */
  | { kind: 'all'; isOurs?: ((request: { baseUrl: string; userEmail: string }) => boolean) | undefined }

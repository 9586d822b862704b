import type { HttpStream } from '../../http/types.ts'
import type { ReportAddress } from '../api.ts'
import type { ApiClient } from '../client.ts'
import { apiPath } from '../path.ts'
import { signedReportUrl } from '../signed-report-url.ts'

const reportHints = {
  404: 'Check the ids and whether the report is ready with "refcheck request get" and the id of its request.',
}

/** "An invalid or expired token gives 401; a fresh URL is obtained by reading the request again." */
const signedHints = {
  ...reportHints,
  refused: 'the report URL was refused: its token is invalid or has expired',
  401: 'A signed URL is valid for one hour. Get a new one with "refcheck request get --json" and the id of its request.',
}

/** GET /v1/reports/{check_id} and /v1/reports/{check_id}/referees/{referee_id}, with the authentication headers. */
export async function openReport(
  client: ApiClient,
  { checkId, refereeId }: ReportAddress,
  signal: AbortSignal | undefined,
): Promise<HttpStream> {
  const path =
    refereeId === undefined
      ? apiPath`/v1/reports/${checkId}`
      : apiPath`/v1/reports/${checkId}/referees/${refereeId}`
  const referee = refereeId === undefined ? '' : `, referee ${refereeId}`
  const hints = { ...reportHints, subject: `the report of check ${checkId}${referee}` }
  return client.openAuthenticated({ url: client.url(path), hints, signal })
}

/** The same by a signed URL; "replaces the authentication headers", so none are sent. */
export async function openSignedReport(
  client: ApiClient,
  text: string,
  signal: AbortSignal | undefined,
): Promise<HttpStream> {
  const url = signedReportUrl(text, client.options.baseUrl)
  return client.openSigned({ url: url.href, hints: signedHints, signal })
}

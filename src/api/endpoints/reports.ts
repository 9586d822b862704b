import { decoded } from '../../host/secrets.ts'
import type { HttpStream } from '../../http/types.ts'
import type { ReportAddress } from '../api.ts'
import type { ApiClient } from '../client.ts'
import { apiPath } from '../path.ts'
import { shellWord } from '../../domain/wording/shell-word.ts'
import { signedReportUrl } from '../signed-report-url.ts'

const reportHints = {
  404: 'Check the ids and whether the report is ready with "refcheck request get" and the id of its request.',
}

/** "An invalid or expired token gives 401". Reading the request again would give a fresh URL, which is not printed. */
const signedHints = {
  ...reportHints,
  refused: 'the report URL was refused: its token is invalid or has expired',
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
  const hints = { ...signedHints, 401: `A signed URL is valid for one hour. ${byIds(url)}` }
  return client.openSigned({ url: url.href, hints, signal })
}

/** The same report without the URL. */
function byIds({ pathname }: URL): string {
  const [, check = '', referee] = /\/v1\/reports\/([^/]+)(?:\/referees\/([^/]+))?$/.exec(pathname) ?? []
  const which = referee === undefined ? '' : ` --referee ${shellWord(decoded(referee) ?? referee)}`
  return `Download the report by its ids: refcheck report download ${shellWord(check)}${which}`
}

import { InvalidInputError, UnavailableError } from '../../errors/kinds.ts'
import type { RefcheckError } from '../../errors/base.ts'
import type { HttpHeaders } from '../../http/types.ts'
import type { ApiClient } from '../client.ts'

/** An answer as it came, but for secrets. */
export interface AnyAnswer {
  status: number
  headers: HttpHeaders
  /** The envelope and all. */
  body: unknown
  /** Set where the status is not 200. */
  failure: RefcheckError | undefined
}

/** Not every path holds an id. */
const hints = {
  404: "Check the path and the ids in it. List the paths of the API with: refcheck sandbox openapi --jq '.paths | keys[]'",
}

/** GET of any path below /v1/ with its query. A body that is not the envelope throws, and so does a path elsewhere. */
export async function getAny(
  client: ApiClient,
  path: string,
  signal: AbortSignal | undefined,
): Promise<AnyAnswer> {
  const response = await client.getResponse(pathBelow(client.options.baseUrl, path), signal)
  const envelope = client.envelopeOf(response)
  const failure = response.status === 200 ? undefined : client.failed(response, envelope, hints)
  if (envelope === undefined) {
    throw (
      failure ??
      new UnavailableError('the answer has no envelope {data, status_message, message}', {
        status: response.status,
        hint: 'A report is a PDF: refcheck report download CHECK_ID. For the rest check the base URL: something other than the service may have answered.',
      })
    )
  }
  return { status: response.status, headers: response.headers, body: envelope, failure }
}

/** The key is sent nowhere but below /v1/ of the base URL, and never together with a signed token. */
function pathBelow(baseUrl: string, path: string): string {
  const url = URL.parse(baseUrl + path)
  const below = `${URL.parse(baseUrl)?.pathname.replace(/(?<!\/)\/+$/, '') ?? ''}/v1/`
  const isBelow =
    url !== null &&
    path.startsWith('/v1/') &&
    url.origin === new URL(baseUrl).origin &&
    url.pathname.startsWith(below) &&
    url.hash === ''
  if (!isBelow) {
    throw new InvalidInputError('PATH is not a path below /v1/', {
      hint: 'For example: refcheck api GET /v1/users',
    })
  }
  if (url.searchParams.has('t')) {
    throw new InvalidInputError('PATH: a signed token is refused on the command line', {
      hint: 'Give the whole URL on stdin: refcheck report download --url -',
    })
  }
  return url.pathname.slice(below.length - '/v1/'.length) + url.search
}

import { InvalidInputError, UnavailableError } from '../../errors/kinds.ts'
import type { RefcheckError } from '../../errors/base.ts'
import type { HttpHeaders } from '../../http/types.ts'
import { parseEnvelope } from '../answer.ts'
import type { ApiClient } from '../client.ts'

/** An answer as it came, secrets masked. */
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
  const envelope = parseEnvelope(response)
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
  const hide = masking(client.options.credentials?.apiKey)
  return {
    status: response.status,
    headers: hide(response.headers) as HttpHeaders,
    body: hide(envelope),
    failure,
  }
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

/** Every text of a value without the key and without signed tokens. */
function masking(apiKey: string | undefined): (value: unknown) => unknown {
  const text = (from: string): string => {
    const bare = from.replaceAll(/([?&;]t=)[^&#\s"]*/g, '$1***')
    return apiKey === undefined || apiKey === '' ? bare : bare.replaceAll(apiKey, '[API key]')
  }
  const hide = (value: unknown): unknown => {
    if (typeof value === 'string') return text(value)
    if (Array.isArray(value)) return value.map(hide)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [text(name), hide(each)]))
  }
  return hide
}

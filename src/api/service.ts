import { z } from 'zod'

import { ping } from '../contract/envelope.ts'
import { type PackageSchema, packageSchema } from '../contract/package-schema.ts'
import { type Package, packageList } from '../contract/package.ts'
import { type RequestResource, requestResource } from '../contract/request.ts'
import { type User, userList } from '../contract/user.ts'
import type { CreateAnswer } from '../domain/submission/outcome.ts'
import { redactArgument } from '../domain/wording/redact-argument.ts'
import { shellWord } from '../domain/wording/shell-word.ts'
import { RefcheckError } from '../errors/base.ts'
import { InternalError, InvalidInputError, UnavailableError } from '../errors/kinds.ts'
import { decoded } from '../host/secrets.ts'
import { TransportError } from '../http/failure.ts'
import type { HttpResponse, HttpStream } from '../http/types.ts'
import { header, requireAbout } from './answer.ts'
import type { AnyAnswer, Api, PackageFilter, ReportAddress } from './api.ts'
import { ApiClient, type ApiClientOptions } from './client.ts'

// To compile a parser for every shape takes longer than to check the few answers that a run reads.
z.config({ jitless: true })

/** The real service at a base URL. */
export function connectApi(options: ApiClientOptions): Api {
  const client = new ApiClient(options)
  return {
    baseUrl: options.baseUrl,
    userEmail: options.credentials?.userEmail ?? '',
    clockDifferenceMs: () => client.clockDifferenceMs,

    /** GET /v1/ping. Needs no authentication; latency in whole milliseconds, of the exchange that was answered. */
    async ping(signal?: AbortSignal): Promise<{ status: string; latency_ms: number }> {
      const { data, milliseconds } = await client.get('/v1/ping', ping, {
        authenticate: false,
        signal,
      })
      return { status: data.status, latency_ms: Math.round(milliseconds) }
    },

    /** GET /v1/packages. */
    async listPackages({ status, id: asked }: PackageFilter = {}, signal?: AbortSignal): Promise<Package[]> {
      const query = new URLSearchParams()
      if (status !== undefined) query.set('status', status)
      if (asked !== undefined) query.set('id', String(asked))
      const path = query.size === 0 ? '/v1/packages' : `/v1/packages?${query.toString()}`
      const {
        data: { packages },
      } = await client.get(path, packageList, { signal })
      if (asked !== undefined) for (const { id } of packages) requireAbout('package', asked, id)
      await options.onPackages?.(packages)
      return packages
    },

    /** GET /v1/packages/{id}/schema. */
    async packageSchema(packageId: number, signal?: AbortSignal): Promise<PackageSchema> {
      const { data: schema } = await client.get(apiPath`/v1/packages/${packageId}/schema`, packageSchema, {
        hints: {
          404: 'List the packages that this user may see with: refcheck packages list',
          subject: `package ${packageId}`,
        },
        signal,
      })
      requireAbout('package', packageId, schema.id)
      return schema
    },

    /** POST /v1/requests, sent once; never throws for what the wire did. */
    async createRequest(body: Uint8Array, signal?: AbortSignal): Promise<CreateAnswer> {
      let response: HttpResponse
      try {
        response = await client.postOnce('/v1/requests', body, signal)
      } catch (error) {
        return unanswered(error)
      }
      const envelope = client.envelopeOf(response)
      const success = response.status >= 200 && response.status < 300
      return {
        kind: 'answered',
        status: response.status,
        envelope,
        retryAfter: header(response.headers, 'retry-after'),
        error: success ? undefined : client.failed(response, envelope, createHints),
      }
    },

    /** GET /v1/requests/{request_id}; the id comes out in lowercase, as every id here is compared. */
    async getRequest(requestId: string, signal?: AbortSignal): Promise<RequestResource> {
      const { data: request } = await client.get(apiPath`/v1/requests/${requestId}`, requestResource, {
        hints: { subject: `request ${requestId}` },
        signal,
      })
      requireAbout('request', requestId, request.request_id)
      return { ...request, request_id: request.request_id.toLowerCase() }
    },

    /** GET /v1/users. */
    async listUsers(signal?: AbortSignal): Promise<User[]> {
      return (await client.get('/v1/users', userList, { signal })).data.users
    },

    /** GET of any path below /v1/ with its query. A body that is not the envelope throws, and so does a path elsewhere. */
    async getAny(path: string, signal?: AbortSignal): Promise<AnyAnswer> {
      const response = await client.getResponse(pathBelow(options, path), signal)
      const envelope = client.envelopeOf(response)
      const failure = response.status === 200 ? undefined : client.failed(response, envelope, anyHints)
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
    },

    /** GET /v1/reports/{check_id} and /v1/reports/{check_id}/referees/{referee_id}, with the authentication headers. */
    async openReport({ checkId, refereeId }: ReportAddress, signal?: AbortSignal): Promise<HttpStream> {
      const path =
        refereeId === undefined
          ? apiPath`/v1/reports/${checkId}`
          : apiPath`/v1/reports/${checkId}/referees/${refereeId}`
      const referee = refereeId === undefined ? '' : `, referee ${refereeId}`
      const hints = { ...reportHints, subject: `the report of check ${checkId}${referee}` }
      return client.openAuthenticated({ url: client.url(path), hints, signal })
    },

    /** The same by a signed URL; "replaces the authentication headers", so none are sent. */
    async openSignedReport(text: string, signal?: AbortSignal): Promise<HttpStream> {
      const url = signedReportUrl(text, options.baseUrl)
      const hints = { ...signedHints, 401: `A signed URL is valid for one hour. ${byIds(url)}` }
      return client.openSigned({ url: url.href, hints, signal })
    },
  }
}

const createHints = {
  404: 'List the packages that can be ordered with: refcheck packages list --status active',
}

/** Not every path holds an id. */
const anyHints = {
  404: "Check the path and the ids in it. List the paths of the API with: refcheck sandbox openapi --jq '.paths | keys[]'",
}

const reportHints = {
  404: 'Check the ids and whether the report is ready with "refcheck request get" and the id of its request.',
}

/** "An invalid or expired token gives 401". Reading the request again would give a fresh URL, which is not printed. */
const signedHints = {
  ...reportHints,
  refused: 'the report URL was refused: its token is invalid or has expired',
}

/** http says exactly what was sent; our own errors come before that, and anything else counts as sent. */
function unanswered(error: unknown): CreateAnswer {
  if (error instanceof TransportError) return { kind: error.sent ? 'lost' : 'unsent', error }
  if (error instanceof RefcheckError) return { kind: 'unsent', error }
  return { kind: 'lost', error: new InternalError('the connection broke during the order', { cause: error }) }
}

/** The same report without the URL. */
function byIds({ pathname }: URL): string {
  const [, check = '', referee] = /\/v1\/reports\/([^/]+)(?:\/referees\/([^/]+))?$/.exec(pathname) ?? []
  const which = referee === undefined ? '' : ` --referee ${shellWord(decoded(referee) ?? referee)}`
  return `Download the report by its ids: refcheck report download ${shellWord(check)}${which}`
}

/** The key is sent nowhere but below /v1/ of the base URL, never in it, and never together with a signed token. */
function pathBelow(
  { baseUrl, credentials }: Pick<ApiClientOptions, 'baseUrl' | 'credentials'>,
  path: string,
): string {
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
  if (credentials !== undefined && (decoded(path) ?? path).includes(credentials.apiKey)) {
    throw new InvalidInputError('PATH: the API key is refused in a URL', {
      hint: 'Leave it out: it is sent as a header.',
    })
  }
  if (url.searchParams.has('t')) {
    throw new InvalidInputError('PATH: a signed token is refused on the command line', {
      hint: 'Give the whole URL on stdin: refcheck report download --url -',
    })
  }
  return url.pathname.slice(below.length - '/v1/'.length) + url.search
}

/**
 * A path with its ids encoded, as a template: apiPath`/v1/requests/${id}`. An id that a URL would read
 * as a step through its folders is refused, so that no id can lead to another resource.
 */
function apiPath(texts: TemplateStringsArray, ...ids: (string | number)[]): string {
  return texts.reduce((path, text, index) => path + segment(String(ids[index - 1] ?? '')) + text)
}

function segment(id: string): string {
  if (/^\.{0,2}$/.test(id) || !id.isWellFormed()) {
    throw new InvalidInputError(`"${redactArgument(id)}" is not an id`, {
      hint: 'Copy the id as the service shows it.',
    })
  }
  return encodeURIComponent(id)
}

const longest = 4096
/** Below the base URL. Of encoded characters, controls and those that a server might read as a path (% . / \\) do not pass. */
const reportPath = /^\/v1\/reports\/[\w.~-]+(?:\/referees\/(?:[\w.~:-]|%(?!2[5ef]|5c|[01]))+)?$/i

/**
 * A signed URL is called only if it is exactly this service's: origin of the base URL, a report's
 * path under it, one `t` and nothing else, and nothing that URL() would have to repair: what is called
 * is what was read. No message shows the token.
 */
export function signedReportUrl(text: string, baseUrl: string): URL {
  const base = new URL(baseUrl)
  if (text.length > longest) throw refuse(`it is longer than ${longest} characters`)
  if (!URL.canParse(text)) throw refuse('it is not a URL')
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') throw refuse('it has a user name in it')
  if (url.origin !== base.origin) {
    throw refuse(`it points to ${url.protocol}//${url.host}, not to ${base.origin}`)
  }
  if (url.href !== text) throw refuse('it differs from the URLs that the service makes')
  const prefix = base.pathname.replace(/\/$/, '')
  if (!url.pathname.startsWith(prefix) || !reportPath.test(url.pathname.slice(prefix.length))) {
    throw refuse('its path is not that of a report')
  }
  if (!/^\?t=[^&;]+$/.test(url.search) || text.includes('#')) {
    throw refuse('it does not have exactly one token "t"')
  }
  return url
}

function refuse(why: string): InvalidInputError {
  return new InvalidInputError(`refused the report URL: ${why}`, {
    field: 'url',
    hint: 'Download the report by the id of its check: refcheck report download CHECK_ID',
  })
}

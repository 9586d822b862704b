import { isJsonObject, propertyOf } from '../contract/parse-json.ts'
import type { Secrets } from '../host/secrets.ts'
import type { HttpResponse } from '../http/types.ts'

/** A response of the deployment with a label of the call. */
export class Answer {
  /** Label of the call for findings, such as "GET /v1/users without headers"; contains no token. */
  readonly label: string
  readonly status: number
  readonly bytes: Buffer
  /** Whether the path of the call has the version prefix. The document's rules hold only for such paths. */
  readonly hasVersionPrefix: boolean
  readonly #headers: HttpResponse['headers']
  readonly #secrets: Secrets
  #parsed: { value: unknown } | undefined

  /**
   * `secrets` are redacted in all texts that the deployment sends, before the texts are shortened in
   * findings.
   */
  constructor(label: string, response: HttpResponse, hasVersionPrefix: boolean, secrets: Secrets) {
    this.label = label
    this.status = response.status
    this.bytes = response.body
    this.hasVersionPrefix = hasVersionPrefix
    this.#secrets = secrets
    this.#headers = secrets.redactAnswer(response.headers) as HttpResponse['headers']
  }

  /**
   * Returns the value of a header by its lowercase name. The values of a repeated header are joined with
   * commas.
   */
  header(name: string): string | undefined {
    const value = this.#headers[name]
    return typeof value === 'string' ? value : value?.join(', ')
  }

  /** Returns the media type without its parameters. */
  get mediaType(): string | undefined {
    return this.header('content-type')?.split(';')[0]?.trim().toLowerCase()
  }

  /** Returns the body parsed as JSON; undefined if it is not JSON. */
  get json(): unknown {
    this.#parsed ??= { value: this.#secrets.redactAnswer(parseBody(this.bytes)) }
    return this.#parsed.value
  }

  get data(): unknown {
    return readValue(this.json, 'data')
  }

  /** Returns the fields of the data; none if the data is no object. */
  get fields(): Fields {
    return fieldsOf(this.data)
  }

  get message(): string | undefined {
    const message = readValue(this.json, 'message')
    return typeof message === 'string' ? message : undefined
  }

  /** Returns the status and the message for findings, such as "got 404 (resource not found)". */
  get summary(): string {
    return this.message === undefined || this.message === ''
      ? `got ${this.status}`
      : `got ${this.status} (${formatValue(this.message)})`
  }
}

/** Parses a body as JSON; undefined if it is not JSON. */
export function parseBody(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown
  } catch {
    return undefined
  }
}

/** Returns the value at a path in JSON; undefined if there is none. */
export function readValue(value: unknown, ...path: (string | number)[]): unknown {
  return path.reduce((current, name) => propertyOf(current, String(name)), value)
}

/** Returns the entries of an array; an empty array for any other value. */
export function toEntries(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

/** The fields of a JSON object from the deployment. Any field may be missing, and its value may have any type. */
export type Fields = Readonly<Record<string, unknown>>

/** Returns the fields of a JSON object; none for any other value. */
export const fieldsOf = (value: unknown): Fields => (isJsonObject(value) ? value : {})

/** Returns the fields of each entry of an array; an empty array for any other value. */
export const toItems = (value: unknown): Fields[] => toEntries(value).map(fieldsOf)

const maxShownCharacters = 80

/**
 * Formats a value from the deployment for a finding. The text is shortened, and the signed tokens of URLs are
 * removed.
 */
export function formatValue(value: unknown): string {
  const text = (value === undefined ? 'nothing' : JSON.stringify(value)).replaceAll(
    /([?&]t=)[^&#"\s]+/g,
    '$1***',
  )
  return text.length > maxShownCharacters ? `${text.slice(0, maxShownCharacters)}…` : text
}

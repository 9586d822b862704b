import type { Secrets } from '../host/secrets.ts'
import type { HttpResponse } from '../http/types.ts'

/** One answer of the deployment, and what was asked. */
export class Answer {
  /** What was asked, for findings: "GET /v1/users without headers". It has no token. */
  readonly label: string
  readonly status: number
  readonly bytes: Buffer
  /** Whether the path is under the version prefix, where the document's promises hold. */
  readonly versioned: boolean
  readonly #headers: HttpResponse['headers']
  readonly #secrets: Secrets
  #parsed: { value: unknown } | undefined

  /** `secrets`: replaced wherever the deployment sends them back, before a finding cuts a text short. */
  constructor(label: string, response: HttpResponse, versioned: boolean, secrets: Secrets) {
    this.label = label
    this.status = response.status
    this.bytes = response.body
    this.versioned = versioned
    this.#secrets = secrets
    this.#headers = secrets.redactAnswer(response.headers) as HttpResponse['headers']
  }

  /** By lowercase name; values of a repeated header are joined as HTTP joins them. */
  header(name: string): string | undefined {
    const value = this.#headers[name]
    return typeof value === 'string' ? value : value?.join(', ')
  }

  /** Media type without parameters. */
  get type(): string | undefined {
    return this.header('content-type')?.split(';')[0]?.trim().toLowerCase()
  }

  /** The body read as JSON; undefined where it is none. */
  get json(): unknown {
    this.#parsed ??= { value: this.#secrets.redactAnswer(parsed(this.bytes)) }
    return this.#parsed.value
  }

  get data(): unknown {
    return field(this.json, 'data')
  }

  get message(): string | undefined {
    const message = field(this.json, 'message')
    return typeof message === 'string' ? message : undefined
  }

  /** "got 404 (resource not found)". */
  get summary(): string {
    return this.message === undefined || this.message === ''
      ? `got ${this.status}`
      : `got ${this.status} (${shown(this.message)})`
  }
}

/** A body read as JSON; undefined where it is none. */
export function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown
  } catch {
    return undefined
  }
}

/** The value at a path of JSON; undefined where there is none. */
export function field(value: unknown, ...path: (string | number)[]): unknown {
  let current = value
  for (const name of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, name)) return undefined
    current = (current as Record<string | number, unknown>)[name]
  }
  return current
}

/** The entries of an array; none of anything else. */
export function entries(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

const maxShown = 80

/** A value of the deployment's as findings show it: short, and without the signed tokens of URLs. */
export function shown(value: unknown): string {
  const text = (value === undefined ? 'nothing' : JSON.stringify(value)).replaceAll(
    /([?&]t=)[^&#"\s]+/g,
    '$1***',
  )
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text
}

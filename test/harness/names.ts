import type { Filter } from './filters.ts'
import type { World } from './world.ts'

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

/**
 * Replaces ids, folders and ports by names that are the same within a session: REQUEST_1, CHECK_1, BATCH_1,
 * HOME, PORT.
 */
export class Names {
  /** Ids that the program generated; only those of batches are shown. */
  readonly generatedIds = new Set<string>()
  readonly #here: World
  readonly #filters: readonly Filter[]
  readonly #startedAt: number | undefined
  readonly #names = new Map<string, string>()
  /** Secrets and their names. They occur in typed command lines; the program never prints them. */
  readonly #secrets = new Map<string, string>()
  readonly #counts = new Map<string, number>()

  /**
   * `startedAt` is the start of a session that uses the real time. Times near it are shown as noon, because all
   * other sessions start at noon.
   */
  constructor(here: World, filters: readonly Filter[], startedAt?: number) {
    this.#here = here
    this.#filters = filters
    this.#startedAt = startedAt
    this.#secrets.set(here.sandbox.credentials.apiKey, 'API_KEY')
    this.#secrets.set(here.sandbox.credentials.webhookSecret, 'SECRET')
  }

  /**
   * Replaces the ids in a text. `typed` is the command line: an id that occurs there before it occurs in an output
   * was chosen by the test, and is not replaced.
   */
  replaceNames(text: string, typed = ''): string {
    const { folder, url, sandbox } = this.#here
    for (const request of sandbox.requests()) {
      this.#assignName(request.request_id, 'REQUEST')
      for (const { id } of request.checks ?? []) if (id !== null) this.#assignName(id, 'CHECK')
    }
    for (const [id] of typed.matchAll(uuid)) if (!this.#names.has(id)) this.#names.set(id, id)
    for (const [id] of text.matchAll(uuid)) this.#assignName(id, this.generatedIds.has(id) ? 'BATCH' : 'ID')
    this.#names.set(new URL(url).port, 'PORT')
    for (const [port] of text.matchAll(/(?<=127\.0\.0\.1:)\d{5}\b/g)) this.#assignName(port, 'PORT')
    let named = text.replaceAll(folder, 'HOME').replaceAll(/\bprocess \d+/g, 'process PID')
    named = named.replaceAll(
      /"(machine|host)": "[^"]*"/g,
      (_, key: string) => `"${key}": "${key.toUpperCase()}"`,
    )
    this.#secrets.set(sandbox.credentials.apiKey, 'API_KEY')
    for (const [secret, name] of this.#secrets) named = named.replaceAll(secret, name)
    for (const [id, name] of this.#names) named = replaceId(named, id, name)
    if (this.#startedAt !== undefined) named = shiftToNoon(named, this.#startedAt)
    for (const [pattern, name] of this.#filters) named = named.replaceAll(pattern, name)
    return named.replaceAll('\u001B', '␛').replaceAll('\r', '␍')
  }

  #assignName(id: string, kind: string): string {
    const existing = this.#names.get(id)
    if (existing !== undefined) return existing
    const count = (this.#counts.get(kind) ?? 0) + 1
    this.#counts.set(kind, count)
    const name = `${kind}_${count}`
    this.#names.set(id, name)
    return name
  }
}

const minute = 60_000
const noon = Date.UTC(2026, 10, 20, 12)
/** Maximum duration of a session. */
const maxSessionMinutes = 5

/**
 * Shifts the times of a text so that the session starts at noon. A time within `maxSessionMinutes` of the start
 * becomes noon, because the duration of a session varies.
 */
function shiftToNoon(text: string, startedAt: number): string {
  const shiftTime = (time: string): string => {
    const minutes = Math.floor(Date.parse(time) / minute) - Math.floor(startedAt / minute)
    return new Date(noon + (Math.abs(minutes) <= maxSessionMinutes ? 0 : minutes) * minute).toISOString()
  }
  return text
    .replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, shiftTime)
    .replaceAll(/\b(\d{4}-\d\d-\d\d) (\d\d:\d\d) \+00:00/g, (_, day: string, time: string) => {
      const [shiftedDay = '', shiftedTime = ''] = shiftTime(`${day}T${time}Z`).split('T')
      return `${shiftedDay} ${shiftedTime.slice(0, 5)} +00:00`
    })
}

/**
 * Replaces an id by its name. In a column of a table the name is padded to the width of the id. The short form of a
 * UUID, its first eight digits, becomes the name with `…`.
 */
function replaceId(text: string, id: string, name: string): string {
  if (id === name) return text
  // The digits of a port may be part of a phone.
  const pattern = /^\d+$/.test(id) ? `(?<!\\d)${id}(?!\\d)` : id
  const whole = text
    .replaceAll(new RegExp(`${pattern}  `, 'g'), `${name.padEnd(id.length)}  `)
    .replaceAll(new RegExp(pattern, 'g'), name)
  return id.length === 36 ? whole.replaceAll(new RegExp(`\\b${id.slice(0, 8)}\\b`, 'g'), `${name}…`) : whole
}

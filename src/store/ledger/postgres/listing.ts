import type { AttemptLists, FoundList, ListPlace } from '../attempt-lists.ts'
import type { Database, Sql } from './connection.ts'
import { type ComparedList, noListPossible } from '../../../domain/store/age.ts'
import {
  type ListedAttempt,
  listLine,
  readList,
  withoutFingerprints,
} from '../../../domain/store/attempt-list.ts'
import { epochOf, isBehind, type ServerPosition } from '../../../domain/store/epoch.ts'
import { digest } from '../listed-rows.ts'
import type { Keyed } from './keyed.ts'
import { metaText, setMeta } from './meta.ts'

const unlistedName = 'unlisted'
/** Offset in a list up to which the store knew all of it once, by the list's id. */
const knownName = (id: string): string => `known ${id}`

/** So much of a list is read again at each run, at the most. */
const tailBytes = 65_536

const selectLacking = `
SELECT id FROM unnest(CAST(:ids AS text[])) AS listed (id) WHERE NOT EXISTS (SELECT 1 FROM attempts a WHERE a.id = listed.id)`

/** This machine's list of the attempts that it made with the store, on its own disk. */
export class Listing {
  readonly #database: Database
  readonly #keyed: Keyed
  readonly #lists: AttemptLists
  #seen: ServerPosition | undefined

  constructor(database: Database, keyed: Keyed, lists: AttemptLists) {
    this.#database = database
    this.#keyed = keyed
    this.#lists = lists
  }

  /** Those of this store, and of one that stood in its place; its own are made with its key. */
  find(): FoundList[] {
    return this.#lists.find(undefined, this.#keyed.location, undefined, this.#keyed.key)
  }

  ownOf(found: readonly FoundList[]): FoundList | undefined {
    return found
      .filter(({ place }) => place?.key === this.#keyed.key && !this.#isLeft(place))
      .sort((one, other) => other.changedAt - one.changedAt)[0]
  }

  /**
   * A new list; undefined where none can be kept and none is needed: a person allowed that, or every commit is on a
   * second server too.
   */
  async make(id: string): Promise<FoundList | undefined> {
    const { location, key } = this.#keyed
    const made = this.#lists.create(id, { store: location, key }, '')
    if (made !== undefined) return made
    const { replicated } = (await this.#database.get(
      `SELECT current_setting('synchronous_standby_names') <> '' AS replicated`,
    )) as { replicated: boolean }
    if (replicated || (await metaText(this.#database, unlistedName)) !== undefined) return undefined
    throw noListPossible(location, this.#lists.folders)
  }

  async allowUnlisted(): Promise<void> {
    await setMeta(this.#database, unlistedName, '1')
  }

  /** What of a list the store does not know, and up to where the list was read. */
  async compare(
    sql: Sql,
    list: FoundList,
    { isOwn, whole }: { isOwn: boolean; whole: boolean },
  ): Promise<ComparedList & { end: number }> {
    const before = Number((await metaText(sql, knownName(list.id))) ?? 0)
    const from = whole ? 0 : Math.min(before, list.size)
    const content = this.#lists.read(list, from)
    const { attempts, damaged } = readList(content.toString(), digest)
    const lacking = new Set(
      attempts.length === 0
        ? []
        : (
            (await sql.all(selectLacking, { ids: attempts.map(({ attemptId }) => attemptId) })) as {
              id: string
            }[]
          ).map(({ id }) => id),
    )
    return {
      own: isOwn,
      sameKey: list.place === undefined || list.place.key === this.#keyed.key,
      harmed: list.size < before || damaged > 0,
      moved: list.place?.movedTo !== undefined,
      lacking: attempts.filter(({ attemptId }) => lacking.has(attemptId)),
      end: from + Math.max(0, content.lastIndexOf('\n')),
    }
  }

  /** Only what is on the disk, so that a power cut leaves no list that is shorter than the store says. */
  async keepKnown(list: FoundList, offset: number): Promise<void> {
    const before = Number((await metaText(this.#database, knownName(list.id))) ?? 0)
    if (offset - before < tailBytes) return
    this.#lists.flush(list)
    await setMeta(this.#database, knownName(list.id), String(offset))
  }

  /** A person has accepted whatever a list says. */
  async acceptAll(sql: Sql, list: FoundList): Promise<void> {
    await setMeta(sql, knownName(list.id), String(list.size))
    this.#lists.welcome(this.#keyed.location)
  }

  /** Says in this machine's list that the store went elsewhere: a copy from before is told by that. */
  leave(to: string): void {
    const { location, key } = this.#keyed
    for (const list of this.#lists.find(undefined, location)) {
      if (list.place?.store === location && list.place.key === key)
        this.#lists.rename(list, { store: location, key, movedTo: to })
    }
  }

  /** Flushed: what an attempt was is known here before its POST, whatever its database forgets. */
  append(own: FoundList, attempt: ListedAttempt): void {
    this.#lists.append(own, listLine(attempt, digest))
    this.#lists.flush(own)
  }

  /** Whether the server knows less than this machine has seen of it. */
  isBehind(own: FoundList, now: ServerPosition): boolean {
    const text = this.#lists.noted(own)
    return isBehind(now, text === undefined ? undefined : positionIn(text))
  }

  /** Remembers how far the server was, with what it had on its disk. */
  note(own: FoundList, now: ServerPosition): void {
    if (isBehind(now, this.#seen)) return
    this.#seen = now
    this.#lists.note(own, `${epochOf(now)} ${now.lsn}\n`)
  }

  /** Takes the fingerprints out of what lists say of these attempts. */
  removeFingerprints(attemptIds: ReadonlySet<string>): void {
    for (const list of this.find()) {
      const { attempts } = readList(this.#lists.read(list, 0).toString(), digest)
      const lines = attempts
        .filter(({ attemptId }) => attemptIds.has(attemptId))
        .map((each) => ({ old: listLine(each, digest), new: listLine(withoutFingerprints(each), digest) }))
      if (lines.length > 0) this.#lists.replace(list, lines)
    }
  }

  /** Of the place that the store was in before it came to this one. */
  #isLeft({ store, movedTo }: ListPlace): boolean {
    return movedTo !== undefined && store !== this.#keyed.location
  }
}

/** Half-written words say nothing. */
function positionIn(text: string): ServerPosition | undefined {
  const [, system, timeline, lsn] = /^(\d+) ([0-9A-F]{8}) ([0-9A-F]+\/[0-9A-F]+)\n$/.exec(text) ?? []
  return system === undefined || timeline === undefined || lsn === undefined
    ? undefined
    : { system, timeline, lsn }
}

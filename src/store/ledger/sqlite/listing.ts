import type { AttemptLists, FoundList } from '../attempt-lists.ts'
import type { Database } from './connection.ts'
import { type ComparedList, noListPossible } from '../../../domain/store/age.ts'
import {
  type ListedAttempt,
  listLine,
  readList,
  withoutFingerprints,
} from '../../../domain/store/attempt-list.ts'
import { fingerprintKeyName } from '../fingerprints.ts'
import { digest, listedAttemptOf } from '../listed-rows.ts'
import { metaBytes, metaText, setMeta } from './meta.ts'

const idName = 'store_id'
const unlistedName = 'unlisted'
const folderName = 'list_folder'
const backupName = 'backup'
/** Offset in a list up to which the store knew all of it once, by the list's path. */
const knownName = (path: string): string => `known ${path}`

/** So much of a list is read again at each run, at the most. */
const tailBytes = 65_536

const selectAll = `
SELECT a.id, a.batch_id, a.row_number, a.user_email, a.began_at, b.base_url, s.package_id,
  coalesce(s.person_print, s.fingerprint) AS person, s.email_print AS email, s.phone_print AS phone
FROM attempts a JOIN submissions s ON s.batch_id = a.batch_id AND s.row_number = a.row_number
JOIN batches b ON b.id = a.batch_id ORDER BY a.began_at, a.rowid`

/** Says in a copy that it is one. */
export function markAsBackup(copy: Database, of: string): void {
  setMeta(copy, backupName, of)
}

/** The lists of attempts of one store, and what it keeps of them. */
export class Listing {
  readonly #database: Database
  readonly #lists: AttemptLists

  constructor(database: Database, lists: AttemptLists) {
    this.#database = database
    this.#lists = lists
  }

  get isBackup(): boolean {
    return metaText(this.#database, backupName) !== undefined
  }

  /** Whether a person lets it go without a list, where none can be kept. */
  get mayBeUnlisted(): boolean {
    return metaText(this.#database, unlistedName) !== undefined
  }

  allowUnlisted(): void {
    setMeta(this.#database, unlistedName, '1')
  }

  /** Of the store that stood in this place last: a new one knows its people by it. */
  formerKey(): Uint8Array | undefined {
    return this.#lists.keyOf(this.#database.location)
  }

  /**
   * Keeps the key of a store that is being made outside it, in a list without attempts: a copy from before its first
   * order knows the people of the store that took its place. Where that cannot be written, whoever orders is told.
   */
  announce(): void {
    const id = this.#derivedId()
    if (this.#found(id).some((list) => list.id === id)) return
    this.#lists.create(id, { store: this.#database.location, key: this.#key() }, '')
  }

  /** Lists of this store, or of one that stood in its place. One without an id is new, or 0.1.0's. */
  find(): FoundList[] {
    const id = metaText(this.#database, idName)
    if (id === undefined && this.isBackup) return this.#found(this.#derivedId())
    const found = this.#found(id)
    if (id !== undefined && (!this.mayBeUnlisted || this.ownOf(found) !== undefined)) return found
    return this.#database.transaction(() => {
      const own = metaText(this.#database, idName) ?? this.#derivedId()
      if (this.#found(own).every((list) => list.id !== own)) this.give(own)
      else setMeta(this.#database, idName, own)
      return this.#found(own)
    })
  }

  ownOf(found: readonly FoundList[]): FoundList | undefined {
    const id = metaText(this.#database, idName)
    return found.find((list) => list.id === id)
  }

  /** Gives the store an id, and a list of all attempts that it knows. Within its caller's transaction. */
  give(id: string): void {
    const { location } = this.#database
    setMeta(this.#database, idName, id)
    const lines = this.#database.all(selectAll).map((row) => listLine(listedAttemptOf(row), digest))
    const made = this.#lists.create(id, { store: location, key: this.#key() }, lines.join(''))
    if (made !== undefined) {
      setMeta(this.#database, folderName, made.folder)
      setMeta(this.#database, unlistedName, undefined)
    } else if (!this.mayBeUnlisted) throw noListPossible(location, this.#lists.folders)
  }

  /** What of a list the store does not know, and up to where the list was read. */
  compare(
    list: FoundList,
    { isOwn, whole }: { isOwn: boolean; whole: boolean },
  ): ComparedList & { end: number } {
    const before = this.#knownOf(list)
    const from = whole ? 0 : Math.min(before, list.size)
    const content = this.#lists.read(list, from)
    const { attempts, damaged } = readList(content.toString(), digest)
    return {
      own: isOwn,
      sameKey: list.place === undefined || list.place.key === this.#key(),
      harmed: list.size < before || damaged > 0,
      moved: list.place?.movedTo !== undefined,
      lacking: attempts.filter(({ attemptId }) => !this.#knows(attemptId)),
      end: from + Math.max(0, content.lastIndexOf('\n')),
    }
  }

  /** Only what is on the disk, so that a power cut leaves no list that is shorter than the store says. */
  keepKnown(list: FoundList, offset: number): void {
    if (offset - this.#knownOf(list) < tailBytes) return
    this.#lists.flush(list)
    setMeta(this.#database, knownName(list.path), String(offset))
  }

  /** A person has accepted whatever a list says. */
  acceptAll(list: FoundList): void {
    setMeta(this.#database, knownName(list.path), String(list.size))
  }

  acceptAsStore(): void {
    setMeta(this.#database, backupName, undefined)
  }

  /** A store that was moved takes its list along. */
  keepPlace(own: FoundList): void {
    const place = { store: this.#database.location, key: this.#key() }
    if (own.place?.store !== place.store) this.#lists.rename(own, place)
    if (metaText(this.#database, folderName) !== own.folder) setMeta(this.#database, folderName, own.folder)
  }

  /** Says in the store's own list that it went elsewhere: a copy from before is told by that. */
  leave(to: string): void {
    const own = this.ownOf(this.find())
    if (own === undefined) return
    this.#lists.rename(own, { store: this.#database.location, key: this.#key(), movedTo: to })
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

  append(own: FoundList, attempt: ListedAttempt): void {
    this.#lists.append(own, listLine(attempt, digest))
  }

  #found(id: string | undefined): FoundList[] {
    return this.#lists.find(id, this.#database.location, metaText(this.#database, folderName))
  }

  #knownOf({ path }: FoundList): number {
    return Number(metaText(this.#database, knownName(path)) ?? 0)
  }

  #knows(attemptId: string): boolean {
    return this.#database.get('SELECT 1 FROM attempts WHERE id = :id', { id: attemptId }) !== undefined
  }

  #key(): string {
    return Buffer.from(metaBytes(this.#database, fingerprintKeyName) ?? []).toString('hex')
  }

  /** The same for a copy of a store of 0.1.0, which had no id. */
  #derivedId(): string {
    const hex = digest(`store ${this.#key()}`)
    return [8, 12, 16, 20, 32].map((end, at, ends) => hex.slice(ends[at - 1] ?? 0, end)).join('-')
  }
}

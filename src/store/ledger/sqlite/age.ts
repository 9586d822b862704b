import { statSync } from 'node:fs'

import type { FoundList } from '../attempt-lists.ts'
import type { Database } from './connection.ts'
import { type Closed, judgeAge, type Judgement, requireHere, storeClosed } from '../../../domain/store/age.ts'
import type { ListedAttempt } from '../../../domain/store/attempt-list.ts'
import { IoError } from '../../../errors/kinds.ts'
import { acceptRuns, formerRunsMissing } from './former-runs.ts'
import type { Clock } from '../../../host/clock.ts'
import type { Listing } from './listing.ts'
import { metaText, setMeta } from './meta.ts'
import { putBack, putBackInWords } from './put-back.ts'
import type { Random } from '../../../host/random.ts'
import { closedName } from '../tables.ts'

const holdPendingRows = `
UPDATE submissions SET state = 'held', held_for = 'store_forgot', changed_at = :at, reason = :reason WHERE state = 'pending'`

/**
 * Tells a store that has forgotten attempts (a backup put back, a file of it lost), by their list outside it
 * (ordering protocol, "Age"). Such a store is closed until a person has accepted it.
 */
export class AttemptAge {
  readonly #database: Database
  readonly #listing: Listing | undefined
  readonly #clock: Clock
  readonly #random: Random
  readonly #inode: number
  /** What attempts of this process are listed in, once it has begun; undefined where a person allows none. */
  #own: FoundList | undefined
  #begun = false

  /** `listing`: undefined for a store that ends with its process. */
  constructor(
    database: Database,
    listing: Listing | undefined,
    { clock, random }: { clock: Clock; random: Random },
  ) {
    this.#database = database
    this.#listing = listing
    this.#clock = clock
    this.#random = random
    this.#inode = this.#inodeNow()
  }

  /** For whoever is about to order. Throws an IoError where the store is closed, or is to be from now on. */
  begin(): void {
    if (this.#listing === undefined) return
    this.requireOpen()
    this.#own = undefined
    const { judgement, ends, own } = this.#look(this.#listing, { whole: false })
    if (judgement.by.length > 0) throw storeClosed(this.#database.location, this.#close(judgement))
    for (const [list, end] of ends) this.#listing.keepKnown(list, end)
    if (own !== undefined) this.#listing.keepPlace(own)
    this.#own = own
    this.#begun = true
  }

  /** Before the first attempt of a process that took no hold. */
  ready(): void {
    if (!this.#begun) this.begin()
  }

  requireOpen(): void {
    const closed = this.closed()
    if (closed !== undefined) throw storeClosed(this.#database.location, closed)
  }

  closed(): Closed | undefined {
    const text = metaText(this.#database, closedName)
    return text === undefined ? undefined : (JSON.parse(text) as Closed)
  }

  /** Lists an attempt that is committed. Throws an IoError where that cannot be done: it may not be sent then. */
  listed(attempt: ListedAttempt): void {
    if (this.#listing === undefined) return
    if (this.#inodeNow() !== this.#inode) {
      throw new IoError(`the store "${this.#database.location}" was replaced while it was in use`, {
        hint: 'Nothing more was sent. See what is known: refcheck store check',
      })
    }
    if (this.#own !== undefined) this.#listing.append(this.#own, attempt)
  }

  /** Reads all lists whole, and closes the store where it lacks attempts. */
  examine(): Closed | undefined {
    if (this.#listing === undefined) return undefined
    const before = this.closed()
    if (before?.move !== undefined) return before
    const { judgement } = this.#look(this.#listing, { whole: true })
    if (judgement.by.length === 0 || (before !== undefined && judgement.lacking.length === 0)) return before
    return this.#close(judgement)
  }

  /** Who was put back, for a person to read. */
  putBack(closed: Closed): string[] {
    return putBackInWords(this.#database, closed.attempts)
  }

  /** A person goes on with it. Answers how many rows are held, since nothing tells whether they were sent. */
  accept(): { held: number } {
    const listing = this.#listing
    const found = listing?.find() ?? []
    const closed = this.examine()
    if (listing === undefined || closed === undefined) return { held: 0 }
    requireHere(this.#database.location, closed)
    return this.#database.transaction(() => {
      const held = closed.untold ? this.#holdPending() : 0
      const isNew = closed.untold || listing.isBackup
      setMeta(this.#database, closedName, undefined)
      listing.acceptAsStore()
      acceptRuns(this.#database)
      for (const list of found) listing.acceptAll(list)
      if (isNew) listing.give(this.#random.uuid())
      this.#begun = false
      return { held }
    })
  }

  /** A person lets it go without a list, where none can be kept. */
  allowUnlisted(): void {
    this.#listing?.allowUnlisted()
  }

  /** For a person who is to be removed completely. */
  removeFingerprints(attemptIds: ReadonlySet<string>): void {
    this.#listing?.removeFingerprints(attemptIds)
  }

  #look(listing: Listing, { whole }: { whole: boolean }) {
    const found = listing.find()
    const own = listing.ownOf(found)
    const compared = found.map((list) => listing.compare(list, { isOwn: list === own, whole }))
    const judgement = judgeAge({
      isBackup: listing.isBackup,
      hasAttempts: this.#database.get('SELECT 1 FROM attempts LIMIT 1') !== undefined,
      mayBeUnlisted: listing.mayBeUnlisted,
      missingRuns: formerRunsMissing(this.#database),
      lists: compared,
    })
    const ends = found.map((list, at): [FoundList, number] => [list, compared[at]?.end ?? 0])
    return { judgement, ends, own }
  }

  /** For all who use the store at once, and what it lacks is put back. */
  #close({ by, lacking, untold }: Judgement): Closed {
    const at = this.#clock.now()
    return this.#database.transaction(() => {
      const before = this.closed()
      for (const attempt of lacking) putBack(this.#database, attempt, at)
      const closed: Closed = {
        at,
        by: [...new Set([...(before?.by ?? []), ...by])],
        attempts: [...new Set([...(before?.attempts ?? []), ...lacking.map(({ attemptId }) => attemptId)])],
        untold: untold || before?.untold === true,
      }
      setMeta(this.#database, closedName, JSON.stringify(closed))
      return closed
    })
  }

  /** A row that was not sent may have been: nothing tells. */
  #holdPending(): number {
    return this.#database.run(holdPendingRows, {
      at: this.#clock.now(),
      reason: 'the store had forgotten attempts',
    })
  }

  #inodeNow(): number {
    const { location } = this.#database
    return location === ':memory:' ? 0 : (statSync(location, { throwIfNoEntry: false })?.ino ?? 0)
  }
}

import type { FoundList } from '../attempt-lists.ts'
import type { Database, Sql } from './connection.ts'
import {
  type Closed,
  judgeAge,
  type Judgement,
  requireHere,
  serverChanged,
  storeClosed,
} from '../../../domain/store/age.ts'
import type { ListedAttempt } from '../../../domain/store/attempt-list.ts'
import { epochOf, notReported, type Reporter, type ServerPosition } from '../../../domain/store/epoch.ts'
import type { Clock } from '../../../host/clock.ts'
import type { Random } from '../../../host/random.ts'
import type { Runner } from './holds.ts'
import type { Keyed } from './keyed.ts'
import type { Listing } from './listing.ts'
import { databaseNow, lockOf } from './locking.ts'
import { metaText, setMeta } from './meta.ts'
import { putBack, putBackInWords } from './put-back.ts'
import { closedName } from '../tables.ts'

/** What is on the server's disk; the epoch that was accepted beside the one that it has. */
const selectPosition = `
SELECT (SELECT system_identifier::text FROM pg_control_system()) AS system,
  left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) AS timeline,
  pg_current_wal_flush_lsn()::text AS lsn,
  e.system || ' ' || e.timeline AS accepted
FROM epoch e`

const acceptEpoch = `
UPDATE epoch SET system = :system, timeline = :timeline, accepted_at = ${databaseNow}`

/** Who only forwards events has no list, and sent no order. */
const selectReporters = `
SELECT list, machine, seen_at, reported FROM runners WHERE list IS NOT NULL OR attempts > 0`

const holdPendingRows = `
UPDATE submissions SET state = 'held', held_for = 'store_forgot', changed_at = :at, reason = :reason WHERE state = 'pending'`

/**
 * Tells a store that has forgotten attempts (failed over to a standby that lagged, put back to an older state), by this
 * machine's list of them, by the server that it is on and by how far that is (fleet.md; ordering protocol, "Age").
 * Such a store is closed until its machines have said what they sent, or a person has accepted it.
 */
export class PostgresAge {
  readonly #database: Database
  readonly #keyed: Keyed
  readonly #listing: Listing
  readonly #runner: Runner
  readonly #clock: Clock
  readonly #random: Random
  readonly #onNotice: ((notice: string) => void) | undefined
  #own: FoundList | undefined
  #position: ServerPosition | undefined
  #begun = false
  #beginning: Promise<void> | undefined

  constructor(
    database: Database,
    keyed: Keyed,
    listing: Listing,
    runner: Runner,
    {
      clock,
      random,
      onNotice,
    }: { clock: Clock; random: Random; onNotice?: ((notice: string) => void) | undefined },
  ) {
    this.#database = database
    this.#keyed = keyed
    this.#listing = listing
    this.#runner = runner
    this.#clock = clock
    this.#random = random
    this.#onNotice = onNotice
  }

  /**
   * For whoever is about to order; those who ask side by side share a look. Throws an IoError where the store is closed,
   * or is to be from now on.
   */
  begin(): Promise<void> {
    this.#beginning ??= this.#begin().finally(() => {
      this.#beginning = undefined
    })
    return this.#beginning
  }

  async #begin(): Promise<void> {
    const before = await this.closed(this.#database)
    if (before !== undefined) throw storeClosed(this.#keyed.location, before)
    const { judgement, ends, own, position, isSame } = await this.#look(this.#database, { whole: false })
    if (!isSame) await this.#report()
    else if (judgement.by.length > 0) throw storeClosed(this.#keyed.location, await this.#close(judgement))
    for (const [list, end] of ends) await this.#listing.keepKnown(list, end)
    this.#own = own ?? (await this.#listing.make(this.#random.uuid()))
    await this.#runner.begin(this.#own?.id)
    this.#position = position
    if (this.#own !== undefined) this.#listing.note(this.#own, position)
    this.#begun = true
  }

  /** Before the first attempt of a process that took no hold. */
  async ready(): Promise<void> {
    if (!this.#begun) await this.begin()
  }

  async closed(sql: Sql): Promise<Closed | undefined> {
    const text = await metaText(sql, closedName)
    return text === undefined ? undefined : (JSON.parse(text) as Closed)
  }

  /** What a claim has found. Throws, unless every machine has said what it sent before the database came to another server. */
  async closedMeanwhile(why: 'closed' | 'another server'): Promise<void> {
    this.#begun = false
    if (why === 'another server') await this.#report()
    await this.begin()
  }

  /** Lists an attempt that is committed. Throws an IoError where that cannot be done: it may not be sent then. */
  listed(attempt: ListedAttempt, lsn: string | undefined): void {
    if (this.#own === undefined) return
    this.#listing.append(this.#own, attempt)
    if (lsn !== undefined && this.#position !== undefined) {
      this.#position = { ...this.#position, lsn }
      this.#listing.note(this.#own, this.#position)
    }
  }

  /** Reads all lists whole, and closes the store where it lacks attempts. */
  async examine(): Promise<Closed | undefined> {
    const before = await this.closed(this.#database)
    if (before?.move !== undefined) return before
    const { judgement, isSame } = await this.#look(this.#database, { whole: true })
    if (!isSame) {
      const waited = await this.#compareWithServer()
      return waited.length === 0 ? this.closed(this.#database) : this.#movedAway()
    }
    if (judgement.by.length === 0 || (before !== undefined && judgement.lacking.length === 0)) return before
    return this.#close(judgement)
  }

  /** Who was put back, for a person to read. */
  async putBack(closed: Closed): Promise<string[]> {
    return putBackInWords(this.#database, closed.attempts)
  }

  /** A person goes on with it. Answers how many rows are held, since nothing tells whether they were sent. */
  async accept(): Promise<{ held: number }> {
    const closed = await this.examine()
    if (closed === undefined) return { held: 0 }
    requireHere(this.#keyed.location, closed)
    const found = this.#listing.find()
    const position = await this.#positionOf(this.#database)
    const held = await this.#database.transaction(async (sql) => {
      await sql.run(lockOf('age'))
      const { system, timeline } = position
      await sql.run(acceptEpoch, { system, timeline })
      await setMeta(sql, closedName, undefined)
      for (const list of found) await this.#listing.acceptAll(sql, list)
      return closed.untold
        ? sql.run(holdPendingRows, { at: this.#clock.now(), reason: 'the store had forgotten attempts' })
        : 0
    })
    const own = this.#listing.ownOf(found)
    if (own !== undefined) this.#listing.note(own, position)
    this.#begun = false
    return { held }
  }

  /** For a person who is to be removed completely. */
  removeFingerprints(attemptIds: ReadonlySet<string>): void {
    this.#listing.removeFingerprints(attemptIds)
  }

  allowUnlisted(): Promise<void> {
    return this.#listing.allowUnlisted()
  }

  async #look(sql: Sql, { whole }: { whole: boolean }) {
    const { accepted, ...position } = await this.#positionOf(sql)
    const found = this.#listing.find()
    const own = this.#listing.ownOf(found)
    const compared: Awaited<ReturnType<Listing['compare']>>[] = []
    for (const list of found)
      compared.push(await this.#listing.compare(sql, list, { isOwn: list === own, whole }))
    const judgement = judgeAge({
      isBackup: false,
      // Others have made those that this machine's list has not.
      hasAttempts: false,
      mayBeUnlisted: true,
      missingRuns: 0,
      isBehind: own !== undefined && this.#listing.isBehind(own, position),
      lists: compared,
    })
    const ends = found.map((list, at): [FoundList, number] => [list, compared[at]?.end ?? 0])
    return { judgement, ends, own, position, isSame: accepted === epochOf(position) }
  }

  async #positionOf(sql: Sql): Promise<ServerPosition & { accepted: string }> {
    return (await sql.get(selectPosition)) as ServerPosition & { accepted: string }
  }

  /** Says what this machine sent. Throws where others have not yet. */
  async #report(): Promise<void> {
    const waited = await this.#compareWithServer()
    if (waited.length > 0) throw serverChanged(this.#keyed.location, waited)
  }

  /**
   * Puts back what this machine sent and the server does not know. Answers the machines that have not done so yet; once there
   * is none, the server is the store's from then on.
   */
  async #compareWithServer(): Promise<string[]> {
    const at = this.#clock.now()
    let lost = 0
    const waited = await this.#database.transaction(async (sql) => {
      await sql.run(lockOf('age'))
      const { judgement, own, position, isSame } = await this.#look(sql, { whole: true })
      if (isSame) return []
      lost = judgement.lacking.length
      for (const attempt of judgement.lacking) await putBack(sql, attempt, at)
      const epoch = epochOf(position)
      await sql.run('UPDATE runners SET reported = :epoch WHERE id = :id OR list = :list', {
        epoch,
        id: this.#runner.id,
        list: own?.id ?? null,
      })
      const left = notReported(epoch, (await sql.all(selectReporters)).map(reporterOf))
      if (left.length === 0) {
        await sql.run(acceptEpoch, { system: position.system, timeline: position.timeline })
      }
      return left
    })
    if (lost > 0) {
      this.#onNotice?.(
        `The store’s database is on another server, which did not know ${lost} of the orders sent from here: they are unknown now.`,
      )
    }
    return waited
  }

  #movedAway(): Closed {
    return { at: this.#clock.now(), by: ['server'], attempts: [], untold: false }
  }

  /** For all who use the store at once, and what it lacks is put back. */
  async #close({ by, lacking, untold }: Judgement): Promise<Closed> {
    const at = this.#clock.now()
    return this.#database.transaction(async (sql) => {
      await sql.run(lockOf('age'))
      const before = await this.closed(sql)
      for (const attempt of lacking) await putBack(sql, attempt, at)
      const closed: Closed = {
        at,
        by: [...new Set([...(before?.by ?? []), ...by])],
        attempts: [...new Set([...(before?.attempts ?? []), ...lacking.map(({ attemptId }) => attemptId)])],
        untold: untold || before?.untold === true,
      }
      await setMeta(sql, closedName, JSON.stringify(closed))
      return closed
    })
  }
}

function reporterOf(selected: unknown): Reporter {
  const { list, machine, seen_at, reported } = selected as {
    list: string | null
    machine: string
    seen_at: number
    reported: string | null
  }
  return { list: list ?? undefined, machine, seenAt: seen_at, reported: reported ?? undefined }
}

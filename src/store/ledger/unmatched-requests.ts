import { emptyBook, type OrphanBook } from '../../domain/batch/second-orders.ts'
import { type Engine, get, run, type Work } from './engine.ts'

/** The name in `meta`. */
const name = 'orphans'

const insertBook = 'INSERT INTO meta (name, value) VALUES (:name, :value) ON CONFLICT (name) DO NOTHING'
const updateBook = 'UPDATE meta SET value = :value WHERE name = :name'

/** What was read of requests that events name and no row of the store holds. One text: there are few, read together. */
export class UnmatchedRequests {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  book(): Promise<OrphanBook> {
    return this.#engine.run(readBook(''))
  }

  /** In one step for all processes; `change` answers undefined to leave it as it is. Whether it was changed. */
  update(change: (book: OrphanBook) => OrphanBook | undefined): Promise<boolean> {
    const lock = this.#engine.dialect.lockRows('meta')
    return this.#engine.transaction(function* () {
      // From then on there is a row to lock.
      yield* run(insertBook, { name, value: bytesOf(emptyBook) })
      const next = change(yield* readBook(lock))
      if (next === undefined) return false
      yield* run(updateBook, { name, value: bytesOf(next) })
      return true
    })
  }
}

function* readBook(lock: string): Work<OrphanBook> {
  const row = yield* get<{ value: Uint8Array }>(`SELECT value FROM meta WHERE name = :name ${lock}`, {
    name,
  })
  return row === undefined ? emptyBook : (JSON.parse(Buffer.from(row.value).toString()) as OrphanBook)
}

const bytesOf = (book: OrphanBook): Buffer => Buffer.from(JSON.stringify(book))

import { UsageError } from '../../errors/kinds.ts'
import type { KnownAccount } from '../../domain/store/types.ts'
import { conflictingStates } from '../../domain/submission/conflicts.ts'
import { joinFirst } from '../../domain/wording/text.ts'
import { all, get, insertRows, type Work } from './engine.ts'
import { StorePart } from './store-part.ts'
import { sqlList } from './submission-rows.ts'

const selectAccounts = `
SELECT c.name AS account,
  (SELECT count(DISTINCT s.person_print) FROM batches b JOIN submissions s ON s.batch_id = b.id
    WHERE b.account = c.name AND s.state IN ${sqlList(conflictingStates)}) AS people,
  (SELECT count(*) FROM attempts a WHERE a.account = c.name) AS attempts,
  (SELECT max(a.began_at) FROM attempts a WHERE a.account = c.name) AS last_attempt_at
FROM accounts c ORDER BY c.name`

/**
 * Adds an account that a user named, or under which attempts are recorded. Returns false if the store has it already.
 */
export function* ensureAccount(name: string, at: number): Work<boolean> {
  const ending = 'ON CONFLICT (name) DO NOTHING RETURNING name'
  return (yield* insertRows('accounts', [{ name, addedAt: at }], ending)).length === 1
}

/**
 * Returns whether the store has the account, or would register it as its first one. Throws UsageError for any other
 * account.
 */
function* checkAccount(name: string): Work<'known' | 'first'> {
  if (name === '') return 'known'
  if ((yield* get('SELECT 1 FROM accounts WHERE name = :name', { name })) !== undefined) return 'known'
  const otherAccounts = yield* all<{ name: string }>(
    `SELECT name FROM accounts WHERE name <> '' ORDER BY name`,
  )
  if (otherAccounts.length === 0 && (yield* get('SELECT 1 FROM attempts LIMIT 1')) === undefined)
    return 'first'
  const accountNames = otherAccounts.map((each) => each.name)
  throw unknownAccount(name, accountNames)
}

/**
 * Registers the account if it is the store's first one, and throws a UsageError if it is unknown. Call it in the
 * transaction that stores something for the account.
 */
export function* requireAccount(name: string, at: number): Work<void> {
  if ((yield* checkAccount(name)) === 'first') {
    // If two processes register a store's first account at the same moment, one waits here for the other.
    const row = { name: 'first_account', value: Buffer.from(name) }
    yield* insertRows('meta', [row], 'ON CONFLICT (name) DO NOTHING')
    yield* checkAccount(name)
  }
  yield* ensureAccount(name, at)
}

const maxNames = 20

function unknownAccount(name: string, accountNames: readonly string[]): UsageError {
  const knownText =
    accountNames.length === 0 ? 'its orders have none' : `it has ${joinFirst(accountNames, maxNames)}`
  return new UsageError(`the store has no account "${name}"; ${knownText}`, {
    hint: `Nothing was sent. Correct REFCHECK_ACCOUNT or the setting "account", or add the account with: refcheck store accounts add ${name}`,
  })
}

/** The accounts of a store. People are compared within an account; orders without an account are under ''. */
export class Accounts extends StorePart {
  /** Returns the accounts in the order of their names, each with the numbers of people and attempts. */
  list(): Promise<KnownAccount[]> {
    return this.engine.snapshot(() => all<KnownAccount>(selectAccounts))
  }

  /**
   * Checks an account and changes nothing. Returns `first` if the store has no account yet and the first order would
   * register this one.
   */
  check(name: string): Promise<'known' | 'first'> {
    return this.engine.snapshot(() => checkAccount(name))
  }

  /** Adds an account. Returns false if the store has it already. */
  add(name: string, at: number): Promise<boolean> {
    return this.engine.transaction(() => ensureAccount(name, at))
  }
}

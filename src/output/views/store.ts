import {
  type CloseReason,
  type ExaminedLogs,
  type Closing,
  closingClauses,
} from '../../domain/store/closing.ts'
import {
  replicationText,
  type KnownAccount,
  type PersonNames,
  type StoreServer,
} from '../../domain/store/types.ts'
import { sanitize } from '../../host/text.ts'
import { styled } from '../terminal.ts'
import { table } from '../table.ts'
import type { Column, ListView, View } from '../view.ts'
import type { TableDigest } from '../../domain/store/moving.ts'
import { shellWord } from '../../domain/wording/pasted-command.ts'
import { localDay, localTime } from '../../domain/wording/time.ts'
import { formatBytes, personName, formatCount } from '../../domain/wording/text.ts'

interface StoreInfo {
  location: string
  bytes: number
  /** The number of the store's format. */
  format: number
  /** The name and version of the database engine. */
  engine: string
  /** The number of batches, including single orders. */
  batches: number
  /** The number of rows in each state. */
  rows: Readonly<Record<string, number>>
  /** The number of webhook events. */
  events: number
  /** Wall times (ms) of the first and the last record; undefined for an empty store. */
  oldest: number | undefined
  newest: number | undefined
  /** Why the store is closed; undefined for an open store. */
  closed: Closing | undefined
  server?: StoreServer | undefined
}

export function storeInfoView({ oldest, newest, server, closed, ...info }: StoreInfo): View {
  const isoTime = (time: number | undefined): string | null =>
    time === undefined ? null : new Date(time).toISOString()
  const closingReasons = closed === undefined ? [] : closingClauses(closed)
  const rows = Object.entries(info.rows).filter(([, count]) => count > 0)
  return {
    json: {
      ...info,
      sqlite: info.engine.startsWith('SQLite ') ? info.engine.slice('SQLite '.length) : '',
      oldest: isoTime(oldest),
      newest: isoTime(newest),
      closed: closingReasons,
      ...(server && {
        replication: server.replication,
        latency_ms: Math.round(server.latencyMs * 100) / 100,
      }),
    },
    text: (terminal) =>
      [
        `${styled(terminal, 'bold', sanitize(info.location))}  ${formatBytes(info.bytes)}`,
        ...closingReasons.map((clause) => `${styled(terminal, 'red', 'closed')}: ${sanitize(clause)}`),
        `format ${info.format}, ${sanitize(info.engine)}`,
        ...(server === undefined
          ? []
          : [`${replicationText[server.replication]}; answers in ${server.latencyMs.toFixed(1)} ms`]),
        `${formatCount(info.batches, 'batch or single order', 'batches and single orders')}: ${rows.length === 0 ? 'no rows' : rows.map(([state, count]) => `${count} ${state}`).join(', ')}`,
        `${formatCount(info.events, 'event')} in the inbox`,
        ...(oldest === undefined
          ? []
          : [`recorded from ${localDay(oldest)} to ${localDay(newest ?? oldest)}`]),
      ].join('\n'),
  }
}

export function storeCheckView(
  location: string,
  findings: readonly string[],
  { closing, unreported, logs, recovered }: ExaminedLogs,
  /** The examination before the user opened the closed store in this command; undefined if the user did not. */
  beforeAcceptance?: ExaminedLogs,
): View {
  return {
    json: {
      location,
      sound: findings.length === 0,
      findings,
      state: closing === undefined ? 'open' : 'closed',
      machines: logs.map(({ id, host, machine, lastAttemptAt, isExcluded }) => ({
        machine: machine === '' ? id : machine,
        host,
        last_attempt_at: lastAttemptAt === 0 ? null : new Date(lastAttemptAt).toISOString(),
        reported: unreported.every((log) => log.id !== id),
        excluded: isExcluded,
      })),
      recovered: beforeAcceptance?.recovered ?? recovered,
    },
    text: (terminal) =>
      [
        ...(beforeAcceptance === undefined ? [] : acceptedLines(beforeAcceptance)),
        ...(findings.length === 0
          ? [
              `${styled(terminal, 'green', 'sound')}  ${sanitize(location)} (by the attempt logs of this machine)`,
            ]
          : findings.map((finding) => {
              const word = recovered.includes(finding)
                ? styled(terminal, 'green', 'added')
                : styled(terminal, 'red', 'wrong')
              return `${word}  ${sanitize(finding)}`
            })),
        ...(beforeAcceptance?.closing?.reasons.some((reason) => olderReasons.has(reason)) === true
          ? purgeAgainLines
          : []),
        ...(beforeAcceptance === undefined || beforeAcceptance.recovered.length === 0
          ? []
          : ['', 'Next: refcheck request list --refresh']),
      ].join('\n'),
  }
}

/** The reasons for which a store is an older copy, which may still contain people who were removed after it was made. */
const olderReasons: ReadonlySet<CloseReason> = new Set(['older', 'generation', 'backup', 'restored'])

const purgeAgainLines = [
  'People who were removed after this copy was made may be in it again.',
  'Remove them again with: refcheck store purge --email EMAIL',
]

const maxRecovered = 10

/** Returns the reasons that the user accepted, and the orders that were recovered from the attempt logs. */
function acceptedLines({ closing, recovered }: ExaminedLogs): string[] {
  const reasons = closing === undefined ? [] : closingClauses(closing)
  const omittedCount = recovered.length - maxRecovered
  return [
    `accepted  ${sanitize(reasons.join('; '))}`,
    ...(recovered.length === 0
      ? []
      : [
          `Brought back from the attempt logs: ${formatCount(recovered.length, 'order')}`,
          ...recovered.slice(0, maxRecovered).map((each) => `  ${sanitize(each)}`),
          ...(omittedCount > 0 ? [`  and ${omittedCount} more`] : []),
        ]),
  ]
}

export function storeMigratedView(migrated: { location: string; from: number; to: number }): View {
  const { location, from, to } = migrated
  return {
    json: migrated,
    text: () =>
      from === to
        ? `The store "${sanitize(location)}" already has the format of this version (${to}).`
        : `The store "${sanitize(location)}" now has format ${to}; before, it ${from === 0 ? 'was empty' : `had format ${from}`}.`,
  }
}

/**
 * Returns the message about rows that are held because the store lost attempts, so that some rows may already
 * have been sent.
 */
export function heldText(held: number, batchIds: readonly string[]): string {
  const [are, theyWere, them] = held === 1 ? ['is', 'it was', 'it'] : ['are', 'they were', 'them']
  return [
    `${formatCount(held, 'waiting row')} ${are} now held: nobody knows whether ${theyWere} sent. See ${them}, and release what is to be sent:`,
    ...batchIds.map((id) => `  refcheck batch rows ${id} --state held`),
  ].join('\n')
}

export function storeBackupView(location: string, path: string): View {
  return {
    json: { location, path },
    text: () => `The store was copied to ${sanitize(path)}`,
  }
}

/** The numbers of what a purge removes, and what it leaves. */
interface PurgeCounts {
  rows: number
  events: number
  /** Stored answers of orders that were not finished. */
  drafts: number
  /** Plans of agents that no person had approved yet. */
  plans: number
  /** Rows that were not changed, because their outcome is not known yet. */
  kept: number
  /** Attempt logs of other machines that still contain fingerprints. */
  logsLeft: readonly { host: string; path: string }[]
  /** Files on this machine that contain the person. */
  files: readonly PurgedFile[]
}

interface PurgedFile {
  path: string
  kind: string
  isDeleted: boolean
}

const fileKindNames: Readonly<Record<string, string>> = {
  input: 'input file',
  results: 'results file',
  plan: 'plan file',
}

const fileLine = (kind: string, path: string): string =>
  `  ${(fileKindNames[kind] ?? kind).padEnd('results file'.length)}  ${sanitize(path)}`

/** Returns the list of the files that contain the person, shown before the user decides whether to delete them. */
export const foundFilesText = (files: readonly Omit<PurgedFile, 'isDeleted'>[]): string =>
  [
    'Files that show the person:',
    ...files.map(({ kind, path }) => fileLine(kind, path)),
    ...(files.some(({ kind }) => kind === 'results' || kind === 'export')
      ? ['Results files and exports are deleted whole, with the other people in them.']
      : []),
  ].join('\n')

/** Returns what a purge deletes of these files: `4 files that refcheck wrote and lines of the manifest`. */
export function deletionText(files: readonly Pick<PurgedFile, 'kind'>[]): string {
  const deletedCount = files.filter((file) => !isManifest(file)).length
  return [
    ...(deletedCount === 0 ? [] : [`${formatCount(deletedCount, 'file')} that refcheck wrote`]),
    ...(files.some(isManifest) ? ['lines of the manifest'] : []),
  ].join(' and ')
}

/** Returns true if a file is a manifest, of which a purge deletes only the lines about the person. */
const isManifest = ({ kind }: Pick<PurgedFile, 'kind'>): boolean => kind === 'manifest'

function filesText(files: readonly PurgedFile[]): string[] {
  const lines = (title: string, listed: readonly PurgedFile[]): string[] =>
    listed.length === 0 ? [] : [title, ...listed.map(({ kind, path }) => fileLine(kind, path))]
  const deleted = files.filter(({ isDeleted }) => isDeleted)
  return [
    ...lines(
      'Deleted:',
      deleted.filter((file) => !isManifest(file)),
    ),
    ...lines('Lines removed from:', deleted.filter(isManifest)),
    ...lines(
      'Files that still show the person:',
      files.filter(({ isDeleted }) => !isDeleted),
    ),
  ]
}

/** Returns a text such as `2 rows and 1 event`, with the drafts and plans if there are any. */
function removedText({
  rows,
  events,
  drafts,
  plans,
}: Omit<PurgeCounts, 'kept' | 'logsLeft' | 'files'>): string {
  const counts = [formatCount(rows, 'row'), formatCount(events, 'event')]
  if (drafts > 0) counts.push(formatCount(drafts, 'draft'))
  if (plans > 0) counts.push(formatCount(plans, 'plan'))
  return `${counts.slice(0, -1).join(', ')} and ${counts.at(-1) ?? ''}`
}

/**
 * Returns the question before a purge. If the purge names a person, `people` are the people whose data is
 * removed. `files` are the files that are deleted with the data.
 */
export function purgeQuestion(
  counts: PurgeCounts,
  people: readonly PersonNames[],
  files: readonly Pick<PurgedFile, 'kind'>[],
): string {
  const names = new Set(
    people.flatMap(({ firstName = '', lastName = '', email }) => {
      const name = personName({ first_name: firstName, last_name: lastName })
      return email === undefined ? [] : `${name} (${email})`.trim()
    }),
  )
  const [firstName, ...otherNames] = names
  const peopleText =
    firstName === undefined
      ? ''
      : `${sanitize(firstName)}${otherNames.length === 0 ? '' : ` and ${otherNames.length} more`}: `
  const deletion = files.length === 0 ? '' : `, and delete ${deletionText(files)},`
  return `Remove personal data of ${peopleText}${removedText(counts)}${deletion} permanently?`
}

export function storePurgeView(purged: PurgeCounts, dryRun: boolean, isByAge = false): View {
  const { rows, events, drafts, plans, kept, logsLeft, files } = purged
  return {
    json: {
      rows,
      events,
      kept,
      drafts,
      plans,
      dry_run: dryRun,
      logs_left: logsLeft,
      files: files.map(({ path, kind, isDeleted }) => ({ path, kind, deleted: isDeleted })),
    },
    text: () => {
      const logs = logsLeft.map(
        ({ host, path }) =>
          `Fingerprints are still in the attempt log of another machine: ${sanitize(host)}, ${sanitize(path)}. They are removed when refcheck next opens this store there.`,
      )
      const nothingText =
        files.length === 0
          ? `Nothing to remove: no personal data ${isByAge ? 'is old enough' : 'was found'}.`
          : 'Nothing to remove from the store.'
      const withLogsAndFiles = (firstLine: string): string =>
        [firstLine, ...logs, ...filesText(files)].join('\n')
      if (rows + events + drafts + plans + kept === 0) return withLogsAndFiles(nothingText)
      const verb = dryRun ? 'Would remove' : 'Removed'
      const unchanged =
        kept === 0
          ? ''
          : `; ${formatCount(kept, 'row')} not settled yet ${kept === 1 ? 'is kept' : 'are kept'}. See what needs a decision: refcheck status`
      return withLogsAndFiles(
        `${verb} personal data of ${removedText(purged)}${unchanged}${kept === 0 ? '.' : ''}`,
      )
    },
  }
}

/** Shows whether two base URLs were recorded as the same service. */
export function sameServiceView(urls: readonly [string, string], isSame: boolean): View {
  return {
    json: { urls, same: isSame },
    text: () =>
      `Recorded: ${sanitize(urls[0])} and ${sanitize(urls[1])} are ${isSame ? 'the same service' : 'two services'}.`,
  }
}

/** Shows the accounts of the store in the given order. The account '' has the orders without an account. */
export function storeAccountsView(accounts: readonly KnownAccount[]): ListView<KnownAccount> {
  const usedAt = ({ lastAttemptAt }: KnownAccount): string | null =>
    lastAttemptAt === null ? null : new Date(lastAttemptAt).toISOString()
  return {
    rows: accounts,
    json: (row) => ({
      account: row.account === '' ? null : row.account,
      people: row.people,
      attempts: row.attempts,
      last_used_at: usedAt(row),
    }),
    columns: [
      { name: 'account', show: ({ account }) => account || '(none)' },
      { name: 'people' },
      { name: 'attempts' },
      {
        name: 'last_used_at',
        value: usedAt,
        show: ({ lastAttemptAt }) => (lastAttemptAt === null ? '-' : localTime(lastAttemptAt)),
      },
    ],
    empty: 'This store has no account yet. The first one that an order names is added by itself.',
  }
}

export function storeAccountAddedView(account: string, isNew: boolean): View {
  return {
    json: { account, added: isNew },
    text: () => `The account "${account}" ${isNew ? 'was added to this store' : 'was there before'}.`,
  }
}

export function storeMoveQuestion({ location, rows, events }: StoreInfo, to: string): string {
  const rowCount = Object.values(rows).reduce((sum, each) => sum + each, 0)
  return `Move ${formatCount(rowCount, 'row')} and ${formatCount(events, 'event')} from ${sanitize(location)} to ${sanitize(to)}, and close the former permanently?`
}

const digestColumns: Column<TableDigest>[] = [
  { name: 'table', value: ({ table: name }) => name },
  { name: 'rows' },
  { name: 'sha256', show: ({ sha256 }) => sha256.slice(0, 16) },
]

/**
 * Shows the row count and the hash of each table, which are equal in the old and the new store. `use`: the value of
 * REFCHECK_STORE for the new store.
 */
export function storeMovedView(moved: {
  from: string
  to: string
  use: string
  tables: readonly TableDigest[]
}): View {
  const { from, to, use, tables } = moved
  return {
    json: { from, to, tables },
    text: (terminal) =>
      [
        `The store was moved from ${sanitize(from)} to ${sanitize(to)}. Both hold the same:`,
        table(tables, digestColumns, terminal),
        `Use it there, on every machine, with REFCHECK_STORE, or with: refcheck config set store ${sanitize(shellWord(use))}`,
      ].join('\n'),
  }
}

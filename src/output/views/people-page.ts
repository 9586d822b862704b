import { shownName, formatCount } from '../../domain/wording/text.ts'
import { html } from 'hono/html'

import {
  type Attention,
  type AttentionGroup,
  type AttentionKind,
  groupAttention,
  isEndedWithoutResult,
} from '../../domain/overview/attention.ts'
import {
  countOrders,
  countPeople,
  leftOutStatus,
  removeDuplicates,
  rowKey,
  type PersonRow,
  statusCounts,
  type TimeBucket,
  timelineOf,
} from '../../domain/overview/people.ts'
import { packageLabel, type PackageNames } from '../../domain/request/listed-request.ts'
import type { FlagRepeater } from '../../domain/wording/pasted-command.ts'
import { localDay, localTime } from '../../domain/wording/time.ts'
import { sanitize } from '../../host/text.ts'
import { pill, statusChart, timeline } from '../../html/charts.ts'
import { type Piece, standalonePage, tableScript } from '../../html/document.ts'
import { attentionWords, namesOf } from './attention.ts'

export interface PeoplePage {
  title: string
  /** The head of the page: service, package and user who ordered, each with a label. */
  facts: readonly (readonly [label: string, value: string])[]
  /** The time at which the page was made, in ISO 8601. */
  madeAt: string
  people: readonly PersonRow[]
  /** The number of rows, which is larger than `people` if only the newest rows are listed. */
  rowCount: number
  /** The number of different people in all rows. */
  personCount: number
  attention: readonly Attention[]
  /** The known names of packages. */
  packages: PackageNames
  /** Whether the rows have several packages, so that the table has a column for the package. */
  hasSeveralPackages: boolean
  /** The version of refcheck, printed at the end of the page. */
  version: string
  /** Adds the user's global flags to the commands in a text. */
  repeatFlags: FlagRepeater
}

/** The number of people of a group whose names are shown. */
const maxNamed = 4

/** Returns one HTML page with the people and the statuses of their requests. It needs no other files. */
export function peoplePage(page: PeoplePage): Promise<string> {
  const { title, facts, madeAt, people: rows } = page
  const people = removeDuplicates(rows)
  const body = html`<header class="container">
      <p class="kind">Background and reference checks</p>
      <h1>${sanitize(title)}</h1>
      <dl class="facts">
        ${[...facts, ['Made', localTime(madeAt)] as const, ...statusesRead(people)].map(
          ([label, value]) =>
            html`<div>
              <dt>${label}</dt>
              <dd>${sanitize(value)}</dd>
            </div>`,
        )}
      </dl>
    </header>
    <main class="container">
      ${tiles(page)} ${attentionSection(page)}
      <div class="charts">
        <section aria-labelledby="statuses">
          <h2 id="statuses">Statuses</h2>
          ${statusChart(statusCounts(people))}
        </section>
        ${timeSection(people)}
      </div>
      ${peopleSection(page)}
    </main>
    <footer class="container">
      Made ${localTime(madeAt)} from the store of refcheck ${page.version}, without a call to the service:
      statuses are as last read. This page holds personal data.
    </footer>`
  return standalonePage({ title, body, script: tableScript })
}

/** Returns the first and the last time at which a status on the page was read from the service. */
function statusesRead(people: readonly PersonRow[]): (readonly [label: string, value: string])[] {
  const times = people.flatMap(({ read_at: at }) => at ?? []).sort()
  const [first, last] = [times.at(0), times.at(-1)]
  if (first === undefined || last === undefined) return []
  const from = localTime(first)
  return [['Statuses read', from === localTime(last) ? from : `${from} to ${localTime(last)}`]]
}

function tiles(page: PeoplePage): Piece {
  const { people: rows, personCount, attention } = page
  const people = removeDuplicates(rows)
  const counts = new Map(statusCounts(people))
  const sum = (...statuses: string[]): number =>
    statuses.reduce((total, status) => total + (counts.get(status) ?? 0), 0)
  const completed = sum('COMPLETED')
  const open = sum('RECEIVED', 'IN_PROGRESS', 'PARTIAL', 'sending')
  const needs = attention.length
  const notCountedText = [leftOutStatus, 'dropped']
    .map((status) => (counts.has(status) ? `, ${counts.get(status)} ${status}` : ''))
    .join('')
  return html`<dl class="tiles">
    <div>
      <dt>${personCount === 1 ? 'person' : 'people'}</dt>
      <dd>${personCount}</dd>
    </div>
    <div class="done">
      <dt>completed</dt>
      <dd>${completed} <small>of ${countOrders(people)}${notCountedText}</small></dd>
    </div>
    <div class="active">
      <dt>in progress</dt>
      <dd>${open}</dd>
    </div>
    <div class="${needs > 0 ? 'bad' : unlistedEndings(page) > 0 ? '' : 'done'}">
      <dt>${needs === 1 ? 'needs a person' : 'need a person'}</dt>
      <dd>${needs}${needsText(attention)}</dd>
    </div>
  </dl>`
}

/** Returns how many people and files the entries that need a person are about, unless each is about another person. */
function needsText(attention: readonly Attention[]): Piece | '' {
  const rows = attention.flatMap(({ row, batch_id: batchId, email, first_name: first, last_name: last }) =>
    row === null
      ? []
      : [{ row, batch_id: batchId, email: email ?? '', name: `${first ?? ''} ${last ?? ''}`.trim() }],
  )
  const fileCount = attention.length - rows.length
  const personCount = countPeople(rows)
  if (personCount === attention.length) return ''
  const parts = [
    ...(personCount === 0 ? [] : [formatCount(personCount, 'person', 'people')]),
    ...(fileCount === 0 ? [] : [formatCount(fileCount, 'file')]),
  ]
  return html` <small>${parts.join(', ')}</small>`
}

/** Returns the number of requests that ended without a result and are not listed as needing a person. */
function unlistedEndings({ people, attention }: PeoplePage): number {
  const ended = removeDuplicates(people).filter(
    (each) => isEndedWithoutResult(each.status) && !each.is_ordered_again,
  ).length
  const listed = attention.filter(({ kind }) => kind === 'error' || kind === 'cancelled').length
  return Math.max(0, ended - listed)
}

function attentionSection(page: PeoplePage): Piece {
  const { attention, title, repeatFlags } = page
  const groups = groupAttention(attention)
  const ended = unlistedEndings(page)
  return html`<section aria-labelledby="attention">
    <h2 id="attention">Needs a person</h2>
    ${
      groups.length === 0
        ? html`<p>${ended === 0 ? 'Nothing needs a person.' : 'Nothing new needs a person.'}</p>`
        : html`<ul class="todo">
            ${groups.map((group) => attentionItem({ ...group, command: repeatFlags(group.command) }, title))}
          </ul>`
    }
    ${ended === 0 ? '' : html`<p>${formatCount(ended, groups.length === 0 ? 'request' : 'more request')} ended without a result: see the list of people.</p>`}
  </section>`
}

/** Explanations for readers of the page who do not know the program. */
const attentionExplanations: Readonly<Record<AttentionKind, string>> = {
  unknown: 'Sent without an answer: it may or may not have been ordered. It is never sent again by itself.',
  second_order: 'Another program ordered the same check for this person: ask the provider.',
  halted: 'The rest was not sent.',
  error: 'The request could not be processed. No checks were made.',
  cancelled: 'The request was cancelled. Its checks were not finished.',
  rejected: 'The service refused the order. Nothing was ordered.',
  invalid: 'The row breaks a rule. Nothing was sent.',
  held: 'Not sent: it may repeat an earlier order, and waits for a decision.',
  stopped: 'The rest was not sent.',
  waiting: 'Ordered long ago and not finished: a referee or a partner may not have answered.',
}

function attentionItem({ kind, batch, items, command }: AttentionGroup, title: string): Piece {
  const isOfBatch = kind === 'halted' || kind === 'stopped'
  const who = isOfBatch ? sanitize(batch ?? '') : namesOf(items, maxNamed)
  const reasons = new Set(items.flatMap(({ reason }) => reason ?? []))
  const shownReasons =
    reasons.size === 1
      ? [...reasons]
      : items
          .slice(0, maxNamed)
          .flatMap((item) => (item.reason === null ? [] : `${namesOf([item], 1)}: ${item.reason}`))
  return html`<li>
    <p>
      ${pill(kind, `${isOfBatch ? '' : `${items.length} `}${attentionWords[kind]}`)}
      <strong><bdi>${who}</bdi></strong>
      ${isOfBatch || batch === null || batch === title ? '' : html`<small>in ${sanitize(batch)}</small>`}<br />
      <small
        >${attentionExplanations[kind]}
        ${shownReasons.map((reason) => html`<br />${sanitize(reason)}`)}</small
      >
    </p>
    <code>${command}</code>
  </li>`
}

function timeSection(people: readonly PersonRow[]): Piece | string {
  const ordered = people.flatMap(({ ordered_at: at, read_at: readAt }) =>
    at === null || readAt === null ? [] : Date.parse(at),
  )
  const completed = people.flatMap(({ status, read_at: at }) =>
    status === 'COMPLETED' && at !== null ? Date.parse(at) : [],
  )
  const series = timelineOf(ordered, completed)
  if (series === undefined) return ''
  // A chart with a single bar shows no comparison, so that a sentence replaces it.
  const onlyBucket = series.unit === 'hour' && series.buckets.length === 1 ? series.buckets[0] : undefined
  return html`<section aria-labelledby="time">
    <h2 id="time">Orders and completions by ${series.unit}</h2>
    ${onlyBucket === undefined ? timeline(series.buckets, series.unit) : html`<p>${hourText(onlyBucket, ordered, completed)}</p>`}
  </section>`
}

function hourText({ label, orderCount, completionCount }: TimeBucket, ...times: readonly number[][]): string {
  const orders = `${formatCount(orderCount, 'order')} and ${formatCount(completionCount, 'completion')}`
  return `${orders} in the hour from ${label} on ${localDay(Math.min(...times.flat()))}.`
}

function peopleSection({
  people,
  rowCount,
  personCount,
  hasSeveralPackages,
  packages,
  repeatFlags,
}: PeoplePage): Piece {
  const statuses = statusCounts(people)
  const rowsByKey = new Map(people.map((each) => [rowKey({ batchId: each.batch_id, row: each.row }), each]))
  const heads = [
    ['Person'],
    ['E-mail', 'wide'],
    ...(hasSeveralPackages ? [['Package', 'wide']] : []),
    ['Status'],
    ['Ordered', 'wide'],
    ['Last read', 'wide'],
    ['Request'],
  ]
  return html`<section aria-labelledby="people">
    <h2 id="people">People</h2>
    <div class="tools" hidden>
      <label>Find <input type="search" placeholder="name, e-mail, request" /></label>
      <label
        >Status
        <select>
          <option value="">all</option>
          ${statuses.map(([status]) => html`<option value="${status}">${status}</option>`)}
        </select>
      </label>
      <output></output>
    </div>
    <div class="overflow-auto" role="region" aria-label="Table of people" tabindex="0">
      <table data-sorts>
        <caption>
          ${people.length === rowCount ? peopleText(personCount, rowCount) : `The newest ${people.length} of ${rowCount}; the rest with: ${repeatFlags('refcheck request list --csv')}`}.
          A request is named by the first 8 characters of its id, which commands take too.
        </caption>
        <thead>
          <tr>
            ${heads.map(([head, shown = 'all']) => html`<th scope="col" class="${shown}">${head}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${people.map((each) =>
            personLine(
              each,
              hasSeveralPackages ? packages : undefined,
              each.same_as_row === null
                ? undefined
                : rowsByKey.get(rowKey({ batchId: each.batch_id, row: each.same_as_row })),
            ),
          )}
        </tbody>
      </table>
    </div>
  </section>`
}

/** `original`: the row of the same file that the row repeats, if the page lists it. */
function personLine(
  row: PersonRow,
  packages: PackageNames | undefined,
  original: PersonRow | undefined,
): Piece {
  const { name, email, status, ordered_at: orderedAt, read_at: readAt, request_id: requestId } = row
  const packageName = packages === undefined ? undefined : packageText(row, packages)
  const missing = email !== '' ? email : status === 'invalid' ? `row ${row.row}` : 'removed'
  const shown = name === '' ? missing : shownName(name)
  const note = row.is_ordered_again
    ? 'ordered again'
    : row.is_repeat
      ? row.perhaps_ordered_by !== null
        ? 'perhaps ordered elsewhere'
        : 'ordered elsewhere'
      : row.same_as_row === null
        ? ''
        : original?.name === undefined || original.name === name
          ? 'same as another row'
          : `same as ${shownName(original.name)}`
  return html`<tr
    data-status="${status}"
    data-find="${sanitize(`${name} ${email} ${requestId ?? ''} ${packageName ?? ''}`)}"
  >
    <th scope="row"><bdi>${sanitize(shown)}</bdi></th>
    <td class="wide">${sanitize(email)}</td>
    ${packageName === undefined ? '' : html`<td class="wide">${sanitize(packageName)}</td>`}
    <td>${pill(status)}${note === '' ? '' : html` <small>(${note})</small>`}</td>
    ${timeCell(orderedAt)} ${timeCell(readAt)}
    <td class="id">
      ${requestId === null ? '' : html`<code title="${sanitize(requestId)}">${sanitize(requestId.slice(0, 8))}</code>`}
    </td>
  </tr> `
}

const peopleText = (personCount: number, rowCount: number): string =>
  `${formatCount(personCount, 'person', 'people')}${personCount === rowCount ? '' : ` in ${formatCount(rowCount, 'row')}`}`

function timeCell(time: string | null): Piece {
  if (time === null) return html`<td class="when wide" data-key=""></td>`
  return html`<td class="when wide" data-key="${time}">
    <time datetime="${time}" title="${localTime(time)}">${localDay(time)}</time>
  </td>`
}

/** Returns the label of the package of a row, or '' if the row has no package. */
export function packageText({ package_id: id, user }: PersonRow, packages: PackageNames): string {
  if (id === null) return ''
  return packageLabel(id, packages(user, id))
}

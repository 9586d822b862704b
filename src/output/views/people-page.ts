import { shownName, formatCount } from '../../domain/wording/text.ts'
import { html } from 'hono/html'

import {
  type Attention,
  type AttentionGroup,
  type AttentionKind,
  groupAttention,
} from '../../domain/overview/attention.ts'
import {
  countOrders,
  withoutDuplicates,
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
import { attentionWords, namesOf } from './overview.ts'

export interface PeoplePage {
  title: string
  /** What the page is about, each with its word: service, package, who ordered. */
  facts: readonly (readonly [word: string, value: string])[]
  /** ISO 8601. */
  readAt: string
  people: readonly PersonRow[]
  /** How many rows there are where not all of them are listed. */
  total: number
  /** How many people all the rows are of. */
  persons: number
  attention: readonly Attention[]
  /** Names of packages, as far as they are known. */
  packages: PackageNames
  /** Whether they are of several packages, so that each row says which. */
  isMixed: boolean
  /** Made with; for the foot. */
  version: string
  /** Repeats in commands what was typed. */
  repeatFlags: FlagRepeater
}

/** The names in a group that needs a person. */
const maxNamed = 4

/** People and their checks as one page that needs nothing else: to open, to print, to file. */
export function peoplePage(page: PeoplePage): Promise<string> {
  const { title, facts, readAt, people: rows } = page
  const people = withoutDuplicates(rows)
  const body = html`<header class="container">
      <p class="kind">Background and reference checks</p>
      <h1>${sanitize(title)}</h1>
      <dl class="facts">
        ${[...facts, ['Made', localTime(readAt)] as const, ...statusesRead(people)].map(
          ([word, value]) =>
            html`<div>
              <dt>${word}</dt>
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
      Made ${localTime(readAt)} from the store of refcheck ${page.version}, without a call to the service:
      statuses are as last read. This page holds personal data.
    </footer>`
  return standalonePage({ title, body, script: tableScript })
}

/** Between which times the service was asked for the statuses on the page. */
function statusesRead(people: readonly PersonRow[]): (readonly [word: string, value: string])[] {
  const times = people.flatMap(({ read_at: at }) => at ?? []).sort()
  const [first, last] = [times.at(0), times.at(-1)]
  if (first === undefined || last === undefined) return []
  const from = localTime(first)
  return [['Statuses read', from === localTime(last) ? from : `${from} to ${localTime(last)}`]]
}

function tiles({ people: rows, persons, attention }: PeoplePage): Piece {
  const people = withoutDuplicates(rows)
  const counts = new Map(statusCounts(people))
  const sum = (...statuses: string[]): number =>
    statuses.reduce((all, status) => all + (counts.get(status) ?? 0), 0)
  const completed = sum('COMPLETED')
  const open = sum('RECEIVED', 'IN_PROGRESS', 'PARTIAL', 'sending')
  const needs = attention.length
  return html`<dl class="tiles">
    <div>
      <dt>${persons === 1 ? 'person' : 'people'}</dt>
      <dd>${persons}</dd>
    </div>
    <div class="done">
      <dt>completed</dt>
      <dd>${completed} <small>of ${countOrders(people)}</small></dd>
    </div>
    <div class="active">
      <dt>in progress</dt>
      <dd>${open}</dd>
    </div>
    <div class="${needs === 0 ? 'done' : 'bad'}">
      <dt>${needs === 1 ? 'needs a person' : 'need a person'}</dt>
      <dd>${needs}</dd>
    </div>
  </dl>`
}

function attentionSection({ attention, title, repeatFlags }: PeoplePage): Piece {
  const groups = groupAttention(attention)
  return html`<section aria-labelledby="attention">
    <h2 id="attention">Needs a person</h2>
    ${
      groups.length === 0
        ? html`<p>Nothing needs a person.</p>`
        : html`<ul class="todo">
            ${groups.map((group) => attentionItem({ ...group, command: repeatFlags(group.command) }, title))}
          </ul>`
    }
  </section>`
}

/** What each means, for a reader of the page who does not know the program. */
const meanings: Readonly<Record<AttentionKind, string>> = {
  unknown: 'Sent without an answer: it may or may not have been ordered. It is never sent again by itself.',
  halted: 'The rest was not sent.',
  error: 'The request could not be processed. No checks were made.',
  cancelled: 'The request was cancelled. Its checks were not finished.',
  rejected: 'The service refused the order. Nothing was ordered.',
  invalid: 'The row breaks a rule. Nothing was sent.',
  held: 'Somebody similar was ordered before. It waits until somebody says whether it is the same person.',
  stopped: 'The rest was not sent.',
  waiting: 'Ordered long ago and not finished: a referee or a partner may not have answered.',
}

function attentionItem({ kind, batch, items, command }: AttentionGroup, title: string): Piece {
  const isOfBatch = kind === 'halted' || kind === 'stopped'
  const who = isOfBatch ? sanitize(batch ?? '') : namesOf(items, maxNamed)
  const reasons = [...new Set(items.flatMap(({ reason }) => reason ?? []))]
  return html`<li>
    <p>
      ${pill(kind, `${isOfBatch ? '' : `${items.length} `}${attentionWords[kind]}`)}
      <strong><bdi>${who}</bdi></strong>
      ${isOfBatch || batch === null || batch === title ? '' : html`<small>in ${sanitize(batch)}</small>`}<br />
      <small>${meanings[kind]} ${reasons.slice(0, 2).map((reason) => html`${sanitize(reason)} `)}</small>
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
  const found = timelineOf(ordered, completed)
  if (found === undefined) return ''
  // One bar compares nothing.
  const only = found.unit === 'hour' && found.buckets.length === 1 ? found.buckets[0] : undefined
  return html`<section aria-labelledby="time">
    <h2 id="time">Orders and completions by ${found.unit}</h2>
    ${only === undefined ? timeline(found.buckets, found.unit) : html`<p>${hourText(only, ordered, completed)}</p>`}
  </section>`
}

function hourText({ label, ordered, completed }: TimeBucket, ...times: readonly number[][]): string {
  const orders = `${formatCount(ordered, 'order')} and ${formatCount(completed, 'completion')}`
  return `${orders} in the hour from ${label} on ${localDay(Math.min(...times.flat()))}.`
}

function peopleSection({ people, total, persons, isMixed, packages, repeatFlags }: PeoplePage): Piece {
  const statuses = statusCounts(people)
  const heads = [
    ['Person'],
    ['E-mail', 'wide'],
    ...(isMixed ? [['Package', 'wide']] : []),
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
          ${statuses.map(([status, count]) => html`<option value="${status}">${status} (${count})</option>`)}
        </select>
      </label>
      <output></output>
    </div>
    <div class="overflow-auto" role="region" aria-label="Table of people" tabindex="0">
      <table data-sorts>
        <caption>
          ${people.length === total ? peopleText(persons, total) : `The newest ${people.length} of ${total}; the rest with: ${repeatFlags('refcheck request list --csv')}`}.
          A request is named by the first 8 characters of its id, which commands take too.
        </caption>
        <thead>
          <tr>
            ${heads.map(([head, shown = 'all']) => html`<th scope="col" class="${shown}">${head}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${people.map((each) => personLine(each, isMixed ? packages : undefined))}
        </tbody>
      </table>
    </div>
  </section>`
}

function personLine(row: PersonRow, packages: PackageNames | undefined): Piece {
  const { name, email, status, ordered_at: orderedAt, read_at: updatedAt, request_id: requestId } = row
  const of = packages === undefined ? undefined : packageText(row, packages)
  const missing = email !== '' ? '-' : status === 'invalid' ? `row ${row.row}` : 'removed'
  const shown = name === '' ? missing : shownName(name)
  return html`<tr
    data-status="${status}"
    data-find="${sanitize(`${name} ${email} ${requestId ?? ''} ${of ?? ''}`)}"
  >
    <th scope="row"><bdi>${sanitize(shown)}</bdi></th>
    <td class="wide">${sanitize(email)}</td>
    ${of === undefined ? '' : html`<td class="wide">${sanitize(of)}</td>`}
    <td>${pill(status)}${row.is_repeat ? html` <small>(ordered before)</small>` : ''}</td>
    ${moment(orderedAt)} ${moment(updatedAt)}
    <td class="id">
      ${requestId === null ? '' : html`<code title="${sanitize(requestId)}">${sanitize(requestId.slice(0, 8))}</code>`}
    </td>
  </tr> `
}

const peopleText = (persons: number, rows: number): string =>
  `${formatCount(persons, 'person', 'people')}${persons === rows ? '' : ` in ${formatCount(rows, 'row')}`}`

function moment(at: string | null): Piece {
  if (at === null) return html`<td class="when wide" data-key=""></td>`
  return html`<td class="when wide" data-key="${at}">
    <time datetime="${at}" title="${localTime(at)}">${localDay(at)}</time>
  </td>`
}

export function packageText({ package_id: id, user }: PersonRow, packages: PackageNames): string {
  if (id === null) return ''
  return packageLabel(id, packages(user, id))
}

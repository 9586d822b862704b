import { expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../../harness/batch-file.ts'
import { orderArguments } from '../../harness/people.ts'
import { startProgram } from '../../harness/process.ts'
import { startMachines } from './machines.ts'
import { recordForFaultTable } from '../../harness/faults/fault-row.ts'

recordForFaultTable('machines', { mustNotHappen: 'ordered twice' })

const run = 'batch run people.csv --package 102 --yes --json'

test('three machines share a file: each person is ordered once, and each machine reports the whole result', async () => {
  const here = await startMachines(30)
  const ended = await Promise.all(['alpha', 'beta', 'gamma'].map((machine) => here.on(machine, run)))
  expect(ended.map(({ code, stderr }) => [code, code === 0 ? '' : stderr])).toEqual([
    [0, ''],
    [0, ''],
    [0, ''],
  ])
  expect(here.listOrderedEmails().sort()).toEqual(createEmails(30).sort())
  for (const { json } of ended) expect(json()).toMatchObject({ counts: { accepted: 30, total: 30 } })
})

test('after one unknown outcome, every machine pings the service before its next order, and only one row is unknown', async () => {
  const here = await startMachines(12)
  const arrivals: string[] = []
  const waiting: { count: number; wake: () => void }[] = []
  /** Resolves once `count` orders and pings have arrived. */
  const waitForArrivals = (count: number): Promise<void> =>
    arrivals.length >= count ? Promise.resolve() : new Promise((wake) => waiting.push({ count, wake }))
  here.intercept(async (request, ask) => {
    const { pathname } = new URL(request.url)
    const isCreate = request.method === 'POST' && pathname === '/v1/requests'
    if (!isCreate && pathname !== '/v1/ping') return ask(request)
    const position = arrivals.push(isCreate ? 'order' : 'ping')
    for (const { count, wake } of waiting) if (position >= count) wake()
    const answer = await ask(request)
    // Both machines have an order in flight. The unknown outcome of one is recorded before the other one continues.
    if (position <= 2) await waitForArrivals(position + 1)
    else if (position === 4) await waitForArrivals(5)
    return position === 1 ? new Response('gone', { status: 502 }) : answer
  })
  const ended = await Promise.all(['alpha', 'beta'].map((machine) => here.on(machine, run)))
  expect(ended.map(({ code }) => code)).toEqual([8, 8])
  expect(here.listOrderedEmails().sort()).toEqual(createEmails(12).sort())
  expect(arrivals.slice(0, 3)).toEqual(['order', 'order', 'ping'])
  // One machine sends its next order after its ping, the other machine pings as well before its own next order.
  expect(arrivals.slice(3, 5).sort()).toEqual(['order', 'ping'])
  expect(arrivals.slice(5)).toEqual(Array(9).fill('order'))
})

test('the same people in two files on two machines at the same time are ordered once', async () => {
  const here = await startMachines(8)
  writePeopleFile(here.folder, createEmails(9), 'more.csv')
  const [one, other] = await Promise.all([
    here.on('alpha', run),
    here.on('beta', run.replace('people.csv', 'more.csv')),
  ])
  expect([one.code, other.code].every((code) => [0, 2, 10].includes(code))).toBe(true)
  expect(here.listOrderedEmails().sort()).toEqual(createEmails(9).sort())
})

test('one batch run and three request create share an attempt log at the same time, and the store still accepts orders', async () => {
  const here = await startMachines(1)
  const single = (first: string): string[] => [...orderArguments(first, ['--yes', '--quiet'])]
  const expected: string[] = []
  for (let round = 1; round <= 4; round += 1) {
    const people = createEmails(10, `.r${round}`)
    writePeopleFile(here.folder, people, `round-${round}.csv`)
    const singles = ['Ana', 'Mei', 'Priya'].map((name) => `${name}${round}`)
    expected.push(...people, ...singles.map((name) => `${name.toLowerCase()}@example.com`))
    const lines = [
      run.replace('people.csv', `round-${round}.csv`).concat(' --quiet').split(' '),
      ...singles.map(single),
    ]
    const env = { ...here.env, ...here.envOf(round % 2 === 0 ? 'alpha' : 'beta') }
    const running = lines.map((argv) => startProgram(argv, env, { cwd: here.folder }))
    const codes = await Promise.all(running.map(({ ended }) => ended))
    expect([round, codes, running.map((each) => each.stderr())]).toEqual([
      round,
      [0, 0, 0, 0],
      ['', '', '', ''],
    ])
  }
  expect(here.listOrderedEmails().sort()).toEqual(expected.sort())
  expect((await here.on('alpha', 'store check --json')).json()).toMatchObject({ state: 'open', sound: true })
})

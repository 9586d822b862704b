import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { emails, peopleFile } from '../harness/batch-file.ts'
import { batchRun } from '../harness/batch-session.ts'
import { ordered, pdfsIn } from '../harness/ordered.ts'
import { orderOf } from '../harness/people.ts'
import { type Between, world } from '../harness/world.ts'

/**
 * Issue 15, item 10: a cache or proxy that answers a read with another request, check or package, and one
 * request id for two orders. 0.1.0 showed, journaled and filed what it was given.
 */

/** Every read of a path is answered as one of another path. */
const instead =
  (swap: (path: string) => string): Between =>
  (request, ask) => {
    const url = new URL(request.url)
    url.pathname = swap(url.pathname)
    return ask(new Request(url, request))
  }

/** JSON answers of GETs, changed. */
const rewritten =
  (change: (text: string) => string): Between =>
  async (request, ask) => {
    const answer = await ask(request)
    if (request.method !== 'GET' || !answer.headers.get('content-type')?.includes('json')) return answer
    const headers = new Headers(answer.headers)
    headers.delete('content-length')
    return new Response(change(await answer.text()), { status: answer.status, headers })
  }

describe('a read of a request that shows another one', () => {
  test.each([
    ['the last order', 0, 1],
    ['the next order', 1, 0],
  ])('%s: request get exits 7 and shows nothing of it', async (_which, asked, answered) => {
    const { run, intercept, ids } = await ordered(['Ana', 'Ben'])
    const [wanted = '', other = ''] = [ids[asked], ids[answered]]
    intercept(instead((path) => path.replace(wanted, other)))
    const { code, stdout, stderr } = await run(['request', 'get', wanted])
    expect({ code, stdout, stderr }).toEqual({
      code: 7,
      stdout: '',
      stderr:
        `Error: the answer is about another request, not about request ${wanted}\n` +
        'None of it was used. A cache or proxy between here and the service may mix up answers: check the base URL and the proxy, then try again.\n',
    })
    const shown = await run(['request', 'get', wanted, '--json'])
    expect([shown.code, shown.stdout]).toEqual([7, expect.not.stringContaining(other)])
  })

  test('in another case it is the same request, and is believed', async () => {
    const { run, intercept, ids } = await ordered(['Ana'])
    const [id = ''] = ids
    intercept(rewritten((text) => text.replaceAll(id, id.toUpperCase())))
    const shown = await run(['request', 'get', id.toUpperCase(), '--json'])
    expect([shown.code, shown.json()]).toMatchObject([0, { request_id: id, status: 'COMPLETED' }])
  })

  test('request wait and request list --refresh journal nothing of it', async () => {
    const { type, intercept, ids } = await ordered(['Ana+declined', 'Ben'])
    const [ana = '', ben = ''] = ids
    intercept(instead((path) => path.replace(ana, ben)))
    expect((await type(`request wait ${ana}`)).code).toBe(7)
    expect((await type('request list --refresh --json')).code).toBe(7)
    const [first] = (await type('request list --json')).json() as { status: string }[]
    expect(first?.status).toBe('RECEIVED')
  })

  test('report download and report sync file nothing under a wrong name, and fetch the right one later', async () => {
    const { type, intercept, ids, reports } = await ordered(['Ana', 'Ben'])
    const [ana = '', ben = ''] = ids
    intercept(instead((path) => path.replace(ana, ben)))
    expect((await type(`report download --request ${ana} --output reports`)).code).toBe(7)
    expect(existsSync(reports) ? pdfsIn(reports) : []).toEqual([])
    expect((await type('report sync --output reports')).code).toBe(10)
    expect(pdfsIn(reports)).toEqual([expect.stringMatching(/^Example-Ben_/)])
    intercept(undefined)
    expect((await type('report sync --output reports')).code).toBe(0)
    expect(pdfsIn(reports)).toEqual([
      expect.stringMatching(/^Example-Ana_/),
      expect.stringMatching(/^Example-Ben_/),
    ])
  })
})

describe('a report URL', () => {
  test('of another check is not filed under this person', async () => {
    const { type, intercept, sandbox, ids, reports } = await ordered(['Ana', 'Ben'])
    const [own = '', other = ''] = sandbox.requests().map(({ checks }) => checks[0]?.id ?? '')
    intercept(rewritten((text) => text.replaceAll(`/v1/reports/${own}`, `/v1/reports/${other}`)))
    const outcome = await type(`report download --request ${ids[0]} --output reports`)
    expect([outcome.code, outcome.stdout]).toEqual([
      10,
      expect.stringContaining(`its report URL is for another check or referee than ${own}`),
    ])
    expect(existsSync(reports) ? pdfsIn(reports) : []).toEqual([])
  })
})

describe('a read of a package that shows another one', () => {
  test.each([
    ['its schema', '/v1/packages/102/schema', '/v1/packages/101/schema', orderOf('Ana')],
    ['the list of it alone', 'id=102', 'id=101', ['packages', 'list', '--id', '102']],
  ])('%s: nothing is ordered, and nothing of it is shown', async (_what, asked, answered, argv) => {
    const { run, intercept, sandbox } = await world()
    intercept((request, ask) => ask(new Request(request.url.replace(asked, answered), request)))
    const { code, stdout, stderr } = await run(argv)
    expect([code, stdout, stderr]).toEqual([
      7,
      '',
      expect.stringContaining('the answer is about another package, not about package 102'),
    ])
    expect(sandbox.requests()).toEqual([])
  })
})

describe('one request id for two orders is no two orders', () => {
  /** The second create is carried out, and answered as the first was. */
  function firstAnswerAgain(change = (text: string): string => text): Between {
    let first: string | undefined
    return async (request, ask) => {
      const answer = await ask(request)
      if (request.method !== 'POST' || answer.status !== 201) return answer
      const again = first
      first ??= await answer.clone().text()
      if (again === undefined) return answer
      return new Response(change(again), { status: 201, headers: { 'content-type': 'application/json' } })
    }
  }

  test.each([
    ['in the same case', undefined],
    ['in capitals', (text: string) => text.replace(/[0-9a-f-]{36}/, (id) => id.toUpperCase())],
  ])('%s: the row is unknown and the batch halts, nothing else sent', async (_how, change) => {
    const place = await world()
    place.intercept(firstAnswerAgain(change))
    const outcome = await place.run(batchRun(peopleFile(place.folder, emails(4))))
    const { counts, error } = outcome.json() as { counts: object; error: { message: string } }
    expect([outcome.code, counts]).toMatchObject([8, { accepted: 1, unknown: 1, pending: 2 }])
    expect(error.message).toContain('which is the order of row 1 of batch')
    expect(place.sandbox.requests()).toHaveLength(2)
    expect(readFileSync(join(place.folder, 'people.results.csv'), 'utf8').match(/,accepted,/g)).toHaveLength(
      1,
    )
  })

  test('request create: exit 8, and the second person is not told as ordered', async () => {
    const place = await world()
    place.intercept(firstAnswerAgain())
    expect((await place.run(orderOf('Ana'))).code).toBe(0)
    const second = await place.run(orderOf('Ben'))
    expect([second.code, second.stdout]).toEqual([8, ''])
    const listed = (await place.run(['request', 'list', '--json'])).json()
    expect(listed).toMatchObject([{ state: 'accepted' }, { state: 'unknown', request_id: null }])
  })
})

import { existsSync } from 'node:fs'

import { expect, test } from 'vitest'

import { sessionWithOrders } from '../harness/orders.ts'
import type { Interceptor } from '../harness/world.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

recordForFaultTable('mixed', { mustNotHappen: 'filed as another report' })

const changeAnswers =
  (change: (answer: RequestAnswer) => void): Interceptor =>
  async (request, ask) => {
    const answer = await ask(request)
    if (!answer.headers.get('content-type')?.includes('json')) return answer
    const body = (await answer.json()) as RequestAnswer
    change(body)
    return Response.json(body, { status: answer.status })
  }

interface RequestAnswer {
  data: null | { checks?: { id: string; references?: { referee_id: string; referee_name: string }[] }[] }
}

test.each<[string, string, (checks: NonNullable<NonNullable<RequestAnswer['data']>['checks']>) => void]>([
  [
    'check',
    'checks\\.\\d+\\.id',
    (checks) => checks.push({ ...checks[0]!, id: checks[0]!.id.toUpperCase() }),
  ],
  [
    'referee',
    'checks\\.\\d+\\.references\\.\\d+\\.referee_id',
    (checks) => {
      const { references = [] } = checks.find((each) => each.references !== undefined) ?? {}
      references.push({ ...references[0]!, referee_name: 'Another One' })
    },
  ],
])(
  'an answer with the same %s id twice is malformed, and no report of the request is filed',
  async (what, path, repeat) => {
    const { type, intercept, ids, reports } = await sessionWithOrders(['Ana'], { full: true })
    intercept(
      changeAnswers(({ data }) => {
        if (data?.checks !== undefined) repeat(data.checks)
      }),
    )
    const { code, stderr } = await type(`report download --request ${ids[0]} --output reports`)
    expect(stderr).toMatch(
      new RegExp(`does not have the documented shape: data\\.${path}: is the id of another ${what}\\n`),
    )
    expect(code).toBe(7)
    expect(existsSync(reports)).toBe(false)
  },
)

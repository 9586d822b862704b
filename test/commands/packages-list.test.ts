import { expect, test } from 'vitest'

import { world } from '../harness/world.ts'

test('packages list', async () => {
  const { run } = await world()
  const { code, stdout, stderr } = await run(['packages', 'list', '--status', 'active'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatchInlineSnapshot(`
    "ID   NAME                        STATUS  REFERENCE SURVEY                            BACKGROUND CHECKS
    101  Standard employment screen  ACTIVE  Professional reference survey (2 referees)  National police check, Credit history check
    102  Identity check only         ACTIVE  -                                           Identity check
    103  Two references              ACTIVE  unnamed (2 referees)                        -
    104  Executive screen            ACTIVE  Executive reference survey (3 referees)     National police check, Credit history check, Identity check
    "
  `)
})

test('packages list --json prints the packages without the envelope', async () => {
  const { run } = await world()
  const outcome = await run(['packages', 'list', '--id', '102', '--json'])
  expect(outcome.code).toBe(0)
  expect(outcome.json()).toEqual([
    {
      id: 102,
      name: 'Identity check only',
      status: 'ACTIVE',
      details: {
        reference_survey: null,
        background_checks: [{ check_name: 'Identity check', partner_name: 'Facet Identity' }],
      },
    },
  ])
})

test('packages list --csv --columns', async () => {
  const { run } = await world()
  const { code, stdout } = await run(['packages', 'list', '--csv', '--columns', 'id,status', '--sort', '-id'])
  expect(code).toBe(0)
  expect(stdout).toBe(
    'id,status\n106,DISABLED\n105,INACTIVE\n104,ACTIVE\n103,ACTIVE\n102,ACTIVE\n101,ACTIVE\n',
  )
})

test('an empty list is said in words', async () => {
  const { run } = await world()
  const { code, stdout } = await run(['packages', 'list', '--id', '999'])
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: 'No packages. Another filter, or another user, may show some.\n',
  })
})

test.each(['1e3', '0x10', '12abc', '-1', '0', ''])(
  '--id %j is refused before anything is sent',
  async (id) => {
    const { run, sandbox } = await world()
    const { code, stdout, stderr } = await run(['packages', 'list', `--id=${id}`])
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: `Error: --id: "${id}" is not a package id\nIt is a whole number; "refcheck packages list" shows them.\n`,
    })
    expect(sandbox.log.entries()).toEqual([])
  },
)

test('--json tells a failure as one document', async () => {
  const { run } = await world()
  const outcome = await run(['packages', 'list', '--json'], { env: { REFCHECK_API_KEY: 'x'.repeat(32) } })
  expect(outcome.code).toBe(3)
  expect(outcome.json()).toEqual({
    error: {
      code: 'unauthenticated',
      message: expect.stringMatching(/key/i) as string,
      hint: expect.stringContaining('refcheck auth login') as string,
      status: 401,
    },
  })
})

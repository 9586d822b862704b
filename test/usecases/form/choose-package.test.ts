import { expect, test } from 'vitest'

import type { Package } from '../../../src/contract/package.ts'
import { choosePackage } from '../../../src/usecases/form/package.ts'
import { ScriptedPrompter } from '../../harness/scripted-prompter.ts'

const createPackage = (id: number, status: string, details?: Package['details']): Package => ({
  id,
  name: `Package ${String(id)}`,
  status,
  details: details ?? { reference_survey: null, background_checks: [] },
})

test('if only one package is ACTIVE, it is chosen without a question', async () => {
  const packages = [createPackage(1, 'INACTIVE'), createPackage(2, 'ACTIVE'), createPackage(3, 'DISABLED')]
  expect((await choosePackage(new ScriptedPrompter(), packages)).id).toBe(2)
})

test('if several packages are ACTIVE, only these are offered', async () => {
  const prompter = new ScriptedPrompter([
    { ask: 'Which package?', choose: 'Package 3 (3)', offered: ['Package 1 (1)', 'Package 3 (3)'] },
  ])
  const packages = [createPackage(1, 'ACTIVE'), createPackage(2, 'INACTIVE'), createPackage(3, 'ACTIVE')]
  expect((await choosePackage(prompter, packages)).id).toBe(3)
  prompter.finish()
})

test('each choice describes the content of the package', async () => {
  const full = createPackage(1, 'ACTIVE', {
    reference_survey: { id: 5, name: 'Managers', min_referees: 2 },
    background_checks: [
      { check_name: 'Police check', partner_name: 'Verify' },
      { check_name: null, partner_name: null },
    ],
  })
  const unnamed = createPackage(2, 'ACTIVE', {
    reference_survey: { id: 6, name: null, min_referees: 1 },
    background_checks: [],
  })
  const details: (string | undefined)[] = []
  const prompter = new ScriptedPrompter()
  prompter.select = async ({ choices }) => {
    details.push(...choices.map(({ detail }) => detail))
    const [first] = choices
    if (first === undefined) throw new Error('nothing is offered')
    return first.value
  }
  await choosePackage(prompter, [full, unnamed])
  expect(details).toEqual([
    'Managers (at least 2 referees), Police check (Verify), Background check',
    'Reference check (at least 1 referee)',
  ])
})

test.each([
  ['no package at all', [], 'this user can order nothing: there are no packages'],
  [
    'none that is ACTIVE',
    [createPackage(1, 'DISABLED')],
    'this user can order nothing: none of the packages is ACTIVE',
  ],
])('choosePackage with %s', async (_name, packages, message) => {
  await expect(choosePackage(new ScriptedPrompter(), packages)).rejects.toMatchObject({
    code: 'invalid_input',
    message,
    hint: expect.stringContaining('refcheck packages list') as string,
  })
})

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { expect, test } from 'vitest'

import { runAndReadOutput } from '../campaign/simulations.ts'

const seedLimitUrl = pathToFileURL(join(import.meta.dirname, 'seed-limit.ts')).href

test.each([
  ['waits', 'setInterval(() => undefined, 1000)'],
  ['loops', 'for (;;);'],
])(
  'the process of a seed that %s for longer than the limit is killed, and the error of the campaign names the seed',
  async (_, statement) => {
    const program = `import { limitSeedDuration } from '${seedLimitUrl}'; const begin = limitSeedDuration(100); begin(6); begin(7); ${statement}`
    await expect(runAndReadOutput(['--input-type=module', '--eval', program])).rejects.toThrow(
      'seed 7 was not over after 100 ms',
    )
  },
)

test('a simulation that ends in time is not killed, and its output is returned', async () => {
  const program = `import { limitSeedDuration } from '${seedLimitUrl}'; limitSeedDuration()(1); console.log('{"twice":0}')`
  expect(await runAndReadOutput(['--input-type=module', '--eval', program])).toBe('{"twice":0}\n')
})

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { expect, test } from 'vitest'

import { runAndReadOutput } from '../campaign/simulations.ts'

const limit = pathToFileURL(join(import.meta.dirname, 'seed-limit.ts')).href

test.each([
  ['waits', 'setInterval(() => undefined, 1000)'],
  ['loops', 'for (;;);'],
])(
  'a seed that %s for longer than it may ends its process, and the campaign names the seed',
  async (_, then) => {
    const program = `import { limitSeedDuration } from '${limit}'; const begin = limitSeedDuration(100); begin(6); begin(7); ${then}`
    await expect(runAndReadOutput(['--input-type=module', '--eval', program])).rejects.toThrow(
      'seed 7 was not over after 100 ms',
    )
  },
)

test('a simulation that ends in time is not killed, and its output is returned', async () => {
  const program = `import { limitSeedDuration } from '${limit}'; limitSeedDuration()(1); console.log('{"twice":0}')`
  expect(await runAndReadOutput(['--input-type=module', '--eval', program])).toBe('{"twice":0}\n')
})

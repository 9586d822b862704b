import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { expect, test } from 'vitest'

import { runAndReadOutput } from '../campaign/simulations.ts'

const limit = pathToFileURL(join(import.meta.dirname, 'seed-limit.ts')).href

test.each([
  ['stands still', 'setInterval(() => undefined, 1000)'],
  ['loops', 'for (;;);'],
])(
  'a seed that %s for longer than it may ends its process, and the campaign names the seed',
  async (_, then) => {
    const program = `import { seedLimit } from '${limit}'; const begin = seedLimit(100); begin(6); begin(7); ${then}`
    await expect(runAndReadOutput(['--input-type=module', '--eval', program])).rejects.toThrow(
      'seed 7 was not over after 100 ms',
    )
  },
)

test('a simulation that ends in time is not ended, and what it printed is taken', async () => {
  const program = `import { seedLimit } from '${limit}'; seedLimit()(1); console.log('{"twice":0}')`
  expect(await runAndReadOutput(['--input-type=module', '--eval', program])).toBe('{"twice":0}\n')
})

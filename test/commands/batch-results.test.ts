import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { emails, peopleFile } from '../harness/batch-file.ts'
import { ScriptedPrompter } from '../harness/scripted-prompter.ts'
import { type World, world } from '../harness/world.ts'

interface Standing {
  batch_id: string
  counts: Record<string, number>
  error?: { code: string; message: string }
}

const batchRun = (file: string, more: readonly string[] = []): string[] => [
  'batch',
  'run',
  file,
  '--package',
  '102',
  '--yes',
  '--json',
  ...more,
]

/** Persons the service was asked to check, by their e-mails. */
const ordered = ({ sandbox }: World): string[] => sandbox.requests().map(({ recipient }) => recipient.email)

describe('the results file', () => {
  test('that cannot be written hides nothing of what became of the rows', async () => {
    const place = await world()
    const file = peopleFile(place.folder, emails(2))
    const results = join(place.folder, 'people.results.csv')
    const { batch_id } = (await place.run(batchRun(file, ['--max', '1']))).json() as Standing
    rmSync(results)
    mkdirSync(results)
    const outcome = await place.run(batchRun(file))
    expect(outcome.code).toBe(1)
    const { counts, error } = outcome.json() as Standing
    expect(counts).toMatchObject({ total: 2, accepted: 2 })
    expect(error).toMatchObject({ code: 'io', message: `cannot write "${results}": it is a folder` })
    expect(outcome.stderr).toContain(`refcheck batch export ${batch_id}" has all of it`)
  })

  test('that cannot be written does not take the place of an outcome that is unknown', async () => {
    const place = await world()
    const file = peopleFile(place.folder, ['a1@example.com', 'a2+cut-after@example.com'])
    await place.run(batchRun(file, ['--max', '1']))
    rmSync(join(place.folder, 'people.results.csv'))
    mkdirSync(join(place.folder, 'people.results.csv'))
    const outcome = await place.run(batchRun(file))
    expect(outcome.code).toBe(8)
    expect(outcome.json()).toMatchObject({ counts: { accepted: 1, unknown: 1 } })
    expect(outcome.stderr).toContain('the results file was not written')
  })

  test('of a file that is changed while it runs is not written, and nothing is wrong with the orders', async () => {
    const place = await world()
    const file = peopleFile(place.folder, emails(2))
    const prompter = new ScriptedPrompter([{ ask: /Order checks for 2 people/, confirm: true }])
    const ask = prompter.confirm.bind(prompter)
    prompter.confirm = (question) => {
      peopleFile(place.folder, emails(3))
      return ask(question)
    }
    const outcome = await place.run(['batch', 'run', file, '--package', '102', '--json'], { prompter })
    expect(outcome.code).toBe(0)
    expect(outcome.json()).toMatchObject({ counts: { total: 2, accepted: 2 } })
    expect(outcome.stderr).toContain('it was changed while it was being read')
    expect(ordered(place)).toEqual(emails(2))
  })

  test.each(['missing/results.csv', 'people.csv', '.'])(
    'is not begun where none can be written: --results %s',
    async (results) => {
      const place = await world()
      const outcome = await place.run(batchRun(peopleFile(place.folder, emails(1)), ['--results', results]))
      expect(outcome.code).toBe(2)
      expect(outcome.json()).toMatchObject({
        error: { code: 'usage', hint: 'Nothing was sent. Choose another name.' },
      })
      expect(ordered(place)).toEqual([])
    },
  )

  test('goes where a later run says, and the same command again goes on', async () => {
    const place = await world()
    const file = peopleFile(place.folder, emails(3))
    await place.run(batchRun(file, ['--max', '1']))
    const elsewhere = join(place.folder, 'other.csv')
    for (const accepted of [2, 3]) {
      const outcome = await place.run(batchRun(file, ['--max', '1', '--results', 'other.csv']))
      expect(outcome.json()).toMatchObject({ counts: { accepted }, results_file: elsewhere })
      expect(readFileSync(elsewhere, 'utf8').split('accepted')).toHaveLength(accepted + 1)
    }
  })
})

test('--allow-duplicate for rows that a batch has as duplicates already tells what to do, and orders nobody', async () => {
  const place = await world()
  await place.run(batchRun(peopleFile(place.folder, emails(1))))
  const more = peopleFile(place.folder, emails(2), 'more.csv')
  const { batch_id } = (await place.run(batchRun(more))).json() as Standing
  const outcome = await place.run(batchRun(more, ['--allow-duplicate']))
  expect(outcome.stderr).toContain(`refcheck batch export ${batch_id} --state duplicate --output again.csv`)
  expect(ordered(place)).toEqual(emails(2))
  await place.run(['batch', 'export', batch_id, '--state', 'duplicate', '--output', 'again.csv'])
  const again = await place.run(['batch', 'run', 'again.csv', '--yes', '--json', '--allow-duplicate'])
  expect(again.json()).toMatchObject({ counts: { total: 1, accepted: 1 } })
})

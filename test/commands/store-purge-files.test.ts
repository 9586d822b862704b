import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { SIZE } from '../harness/filters.ts'
import { completeRequests, listPdfs } from '../harness/orders.ts'
import { type Session, session } from '../harness/session.ts'
import { reportKey } from '../../src/domain/report/record.ts'
import { InternalError } from '../../src/errors/kinds.ts'
import { systemRandom } from '../../src/host/random.ts'
import { openStore } from '../../src/store/ledger/open.ts'
import { readRecords } from '../../src/store/reports/folder.ts'

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

const zelda = 'zelda@example.com'
const purge = `store purge --email ${zelda} --yes`
const run = 'batch run people.csv --package 102 --yes'

/** Orders Zelda and another person, and creates all kinds of files that refcheck writes about them. */
async function sessionWithFiles(store: 'SQLite' | 'PostgreSQL' = 'SQLite'): Promise<Session> {
  const here = await session({ store, filters: [SIZE] })
  writePeopleFile(here.folder, [zelda, ...createEmails(1)])
  const { batch_id } = (await here.type(`${run} --json`)).json() as { batch_id: string }
  completeRequests(here.sandbox)
  await here.type('report sync --output reports --name-template {email}.pdf')
  await here.type(`batch export ${batch_id} --output export.xlsx`)
  await here.type('batch plan people.csv --package 102 --output plan.json')
  if (store === 'SQLite') await here.type('store backup backup.sqlite')
  return here
}

test('store purge lists the files that still name the person, and --delete-files deletes those that refcheck wrote', async () => {
  const here = await sessionWithFiles()
  expect(await here.all([purge, `${purge} --delete-files`, `${purge} --delete-files`]))
    .toMatchInlineSnapshot(`
      $ refcheck store purge --email zelda@example.com --yes
      Removed personal data of 1 row and 0 events.
      Files that still show the person:
        input file    HOME/people.csv
        results file  HOME/people.results.csv
        export        HOME/export.xlsx
        plan file     HOME/plan.json
        report        HOME/reports/zelda-example-com.pdf
        manifest      HOME/reports/manifest.json
        backup        HOME/backup.sqlite
      2> To delete those that refcheck wrote, run: refcheck store purge --email zelda@example.com --delete-files
      exit 0

      $ refcheck store purge --email zelda@example.com --yes --delete-files
      Nothing to remove from the store.
      Deleted:
        results file  HOME/people.results.csv
        export        HOME/export.xlsx
        plan file     HOME/plan.json
        report        HOME/reports/zelda-example-com.pdf
      Lines removed from:
        manifest      HOME/reports/manifest.json
      Files that still show the person:
        input file    HOME/people.csv
        backup        HOME/backup.sqlite
      exit 0

      $ refcheck store purge --email zelda@example.com --yes --delete-files
      Nothing to remove from the store.
      Files that still show the person:
        input file    HOME/people.csv
        backup        HOME/backup.sqlite
      exit 0
    `)
  expect(listPdfs(join(here.folder, 'reports'))).toEqual(['a1-example-com.pdf'])
  expect(here.read('reports/manifest.json').concat(here.read('reports/manifest.csv'))).not.toContain('zelda')
  expect(here.read('reports/manifest.json')).toContain('a1-example-com.pdf')
})

test('store purge deletes no file that another account could have put at the path of an export', async () => {
  const here = await sessionWithFiles()
  const team = join(here.folder, 'team')
  mkdirSync(join(team, 'shared'), { recursive: true })
  chmodSync(team, 0o777)
  const [batch] = (await here.type('batch list --json')).json() as { batch_id: string }[]
  await here.type(`batch export ${batch?.batch_id} --output team/shared/march.csv`)
  mkdirSync(join(here.folder, 'mine'))
  writeFileSync(join(here.folder, 'mine', 'march.csv'), `another file about ${zelda}`)
  renameSync(join(team, 'shared'), join(team, 'old'))
  symlinkSync(join(here.folder, 'mine'), join(team, 'shared'))
  const purged = await here.type(`${purge} --delete-files`)
  expect(purged.stdout).toMatch(/still show the person:\n[^]* export +\S+\/team\/shared\/march\.csv\n/)
  expect(here.read('mine/march.csv')).toBe(`another file about ${zelda}`)
})

test('reports below a symbolic link are listed, with their lines of the manifest, until store purge can delete them', async () => {
  const here = await session({ filters: [SIZE] })
  writePeopleFile(here.folder, [zelda])
  await here.type(run)
  completeRequests(here.sandbox)
  await here.type('report sync --output reports --name-template people/{email}.pdf')
  const people = join(here.folder, 'reports', 'people')
  renameSync(people, join(here.folder, 'disk'))
  symlinkSync(join(here.folder, 'disk'), people)
  expect(await here.type(`${purge} --delete-files`)).toMatchInlineSnapshot(`
    $ refcheck store purge --email zelda@example.com --yes --delete-files
    Removed personal data of 1 row and 0 events.
    Deleted:
      results file  HOME/people.results.csv
    Files that still show the person:
      input file    HOME/people.csv
      report        HOME/reports/people/zelda-example-com.pdf
      manifest      HOME/reports/manifest.json
    2> Error: 2 files were not deleted: a link is in the way, or other users of this machine may put one there
    2> Move the folder itself to where the link is, and make its parent private (chmod go-w), then run: refcheck store purge --email zelda@example.com --yes --delete-files
    exit 10
  `)
  expect(listPdfs(join(here.folder, 'disk'))).toEqual(['zelda-example-com.pdf'])
  expect(here.read('reports/manifest.json')).toContain('zelda')
  rmSync(people)
  renameSync(join(here.folder, 'disk'), people)
  expect(await here.type(`${purge} --delete-files`)).toMatchInlineSnapshot(`
    $ refcheck store purge --email zelda@example.com --yes --delete-files
    Nothing to remove from the store.
    Deleted:
      report        HOME/reports/people/zelda-example-com.pdf
    Lines removed from:
      manifest      HOME/reports/manifest.json
    exit 0
  `)
  expect(listPdfs(people)).toEqual([])
  expect(here.read('reports/manifest.json')).not.toContain('zelda')
})

test('if one folder of reports cannot be used, the files in other folders are deleted', async () => {
  const here = await sessionWithFiles()
  await here.type('report sync --output other')
  // Damages the folder that store purge reads first.
  const [broken = '', usable = ''] = ['reports', 'other'].toSorted((one, other) =>
    digest(join(here.folder, one)) < digest(join(here.folder, other)) ? -1 : 1,
  )
  const manifest = join(here.folder, broken, 'manifest.csv')
  rmSync(manifest)
  symlinkSync(join(here.folder, 'people.csv'), manifest)
  const purged = await here.type(`${purge} --delete-files`)
  expect(purged.code).toBe(1)
  expect(purged.stderr).toContain('manifest.csv')
  expect(listPdfs(join(here.folder, usable))).toHaveLength(1)
  expect(here.read('people.csv')).toContain('zelda')
})

test('on a terminal store purge asks before it deletes files', async () => {
  const here = await sessionWithFiles()
  const line = `store purge --email ${zelda}`
  const answers = [
    { ask: /permanently/, confirm: true },
    { ask: /refcheck wrote/, confirm: true },
  ]
  expect((await here.type(['store', 'purge', '--email', 'Zelda Row1'])).stderr).toContain(
    'is not an e-mail address',
  )
  expect(await here.type(line, { answers })).toMatchInlineSnapshot(`
    $ refcheck store purge --email zelda@example.com
    ? Remove personal data of Ana Row1 (zelda@example.com): 1 row and 0 events permanently? yes
    2> Files that show the person:
    2>   results file  HOME/people.results.csv
    2>   export        HOME/export.xlsx
    2>   plan file     HOME/plan.json
    2>   report        HOME/reports/zelda-example-com.pdf
    2>   manifest      HOME/reports/manifest.json
    2> Results files and exports are deleted whole, with the other people in them.
    ? Delete 4 files that refcheck wrote and lines of the manifest as well? yes
    Removed personal data of 1 row and 0 events.
    Deleted:
      results file  HOME/people.results.csv
      export        HOME/export.xlsx
      plan file     HOME/plan.json
      report        HOME/reports/zelda-example-com.pdf
    Lines removed from:
      manifest      HOME/reports/manifest.json
    Files that still show the person:
      input file    HOME/people.csv
      backup        HOME/backup.sqlite
    exit 0
  `)
})

test('--delete-files on a terminal lists the files before its question, also if the store has no data of the person', async () => {
  const here = await sessionWithFiles()
  const line = `store purge --email ${zelda} --delete-files`
  const no = { ask: /permanently/, confirm: false }
  expect(await here.type(line, { answers: [no] })).toMatchInlineSnapshot(`
    $ refcheck store purge --email zelda@example.com --delete-files
    2> Files that show the person:
    2>   results file  HOME/people.results.csv
    2>   export        HOME/export.xlsx
    2>   plan file     HOME/plan.json
    2>   report        HOME/reports/zelda-example-com.pdf
    2>   manifest      HOME/reports/manifest.json
    2> Results files and exports are deleted whole, with the other people in them.
    ? Remove personal data of Ana Row1 (zelda@example.com): 1 row and 0 events, and delete 4 files that refcheck wrote and lines of the manifest, permanently? no
    2> Not confirmed; nothing was done
    exit 130
  `)
  await here.type(purge)
  expect(await here.type(line, { answers: [no] })).toMatchInlineSnapshot(`
    $ refcheck store purge --email zelda@example.com --delete-files
    2> Files that show the person:
    2>   results file  HOME/people.results.csv
    2>   export        HOME/export.xlsx
    2>   plan file     HOME/plan.json
    2>   report        HOME/reports/zelda-example-com.pdf
    2>   manifest      HOME/reports/manifest.json
    2> Results files and exports are deleted whole, with the other people in them.
    ? Delete 4 files that refcheck wrote and lines of the manifest permanently? no
    2> Not confirmed; nothing was done
    exit 130
  `)
  expect(here.read('people.results.csv')).toContain('zelda')
  const yes = { ask: /permanently/, confirm: true }
  expect((await here.type(line, { answers: [yes] })).stdout).toContain('\nDeleted:\n')
  expect(here.read('people.csv')).toContain('zelda')
})

test.each(['SQLite', 'PostgreSQL'] as const)(
  'a purge that was killed before it deleted the files is completed at the next start, on %s',
  async (engine) => {
    const here = await sessionWithFiles(engine)
    const names = ['export.xlsx', 'people.results.csv']
    const paths = { config: join(here.folder, 'config'), data: join(here.folder, 'data') }
    const store = await openStore({
      chosenAddress: here.env['REFCHECK_STORE'],
      paths,
      cwd: here.folder,
      clock: here.clock,
      random: systemRandom,
    })
    const records = await readRecords(join(here.folder, 'reports'))
    const keys = records.filter(({ file }) => file.startsWith('zelda')).map(reportKey)
    const files = {
      drafts: [],
      plans: [],
      files: names.map((name) => join(here.folder, name)),
      reports: [{ folder: join(here.folder, 'reports'), keys }],
    }
    const rejectAsKilled = () => Promise.reject(new InternalError('killed'))
    await expect(
      store.maintenance.purge({ email: zelda }, { dryRun: false, completely: true, files }, rejectAsKilled),
    ).rejects.toThrow('killed')
    await store.close()
    expect(listPdfs(join(here.folder, 'reports'))).toHaveLength(2)
    expect((await here.type('request list')).stderr).toBe('')
    expect(listPdfs(join(here.folder, 'reports'))).toEqual(['a1-example-com.pdf'])
    expect(here.read('reports/manifest.json')).not.toContain('zelda')
    expect(readdirSync(here.folder).filter((name) => names.includes(name))).toEqual([])
    expect((await here.type('store check')).code).toBe(0)
  },
)

test('a damaged record of a written file is reported, and nothing is removed', async () => {
  const here = await sessionWithFiles()
  const folder = join(here.folder, 'data', 'written')
  const [name = ''] = readdirSync(folder)
  writeFileSync(join(folder, name), '{')
  const { code, stderr } = await here.type(purge)
  expect(code).toBe(1)
  expect(stderr).toMatch(/^Error: ".*\.json" is damaged: it is not JSON$/m)
  expect((await here.type(`request list --email ${zelda} --json`)).json()).toHaveLength(1)
})

test('a run of the file with nothing to do does not make a results file again that was deleted with a person', async () => {
  const { type, folder } = await sessionWithFiles()
  await type(`${purge} --delete-files`)
  expect(await type(run)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes
    2> people.csv is batch BATCH_1: nothing left to send.
    ✔ All 2 people in people.csv are ordered, on 2026-11-20 12:00 +00:00; nothing to do

    batch  BATCH_1
    people.csv, 102 Identity check only

    2  accepted
    2  rows

    Next: refcheck report sync --output reports
    exit 0
  `)
  expect(existsSync(join(folder, 'people.results.csv'))).toBe(false)
})

test('a file that is run again after a purge of all its people is not compared with a file name', async () => {
  const { type, folder } = await session()
  writePeopleFile(folder, [zelda])
  await type(run)
  await type(purge)
  const again = await type(run)
  expect(again.stderr).toMatch(/^people\.csv is batch [-0-9a-f]{36}: /m)
})

test.each(['csv', 'xlsx'])(
  'store purge neither lists nor deletes a %s export without the person, which became the file of another batch',
  async (format) => {
    const here = await session({ filters: [[/\.xlsx/g, '.csv']] })
    writePeopleFile(here.folder, [zelda, ...createEmails(2)])
    const { batch_id: id } = (await here.type(`${run} --max 1 --json`)).json() as { batch_id: string }
    await here.all([`batch export ${id} --state pending --output rest.${format}`, `batch cancel ${id} --yes`])
    await here.type(`batch run rest.${format} --yes`)
    writeFileSync(join(here.folder, 'people.csv'), here.read('people.csv').replace(/^.*zelda.*\n/m, ''))
    expect(await here.type(`${purge} --delete-files`)).toMatchInlineSnapshot(`
      $ refcheck store purge --email zelda@example.com --yes --delete-files
      Removed personal data of 1 row and 0 events.
      Deleted:
        results file  HOME/people.results.csv
      exit 0
    `)
    expect(existsSync(join(here.folder, `rest.${format}`))).toBe(true)
  },
)

test('store purge does not delete an export that became the file of another batch and names the person again', async () => {
  const here = await session()
  writePeopleFile(here.folder, [zelda, ...createEmails(2)])
  const { batch_id: id } = (await here.type(`${run} --max 1 --json`)).json() as { batch_id: string }
  await here.all([`batch export ${id} --state pending --output rest.csv`, `batch cancel ${id} --yes`])
  await here.type('batch run rest.csv --yes')
  writeFileSync(join(here.folder, 'rest.csv'), `${here.read('rest.csv')}Zelda,Row1,${zelda},+61400000009\n`)
  expect(await here.type(`${purge} --delete-files`)).toMatchInlineSnapshot(`
    $ refcheck store purge --email zelda@example.com --yes --delete-files
    Removed personal data of 1 row and 0 events.
    Deleted:
      results file  HOME/people.results.csv
    Files that still show the person:
      input file    HOME/people.csv
      input file    HOME/rest.csv
    exit 0
  `)
  expect(here.read('rest.csv')).toContain(zelda)
})

import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { type Session, session } from '../harness/session.ts'

const run = 'batch run people.csv --package 102 --yes'
const header = 'first_name,last_name,email,phone'

/** Creates a batch of four rows, and sends two of them. Returns its id. */
async function createHalfSentBatch({ type, folder }: Session): Promise<string> {
  writePeopleFile(folder, createEmails(4))
  return ((await type(`${run} --max 2 --json`)).json() as { batch_id: string }).batch_id
}

test('batch export prints the rows as JSON, or writes a file that can be run and orders only the remaining rows', async () => {
  const here = await session()
  const id = await createHalfSentBatch(here)
  expect(await here.type(`batch export ${id} --json`)).toMatchInlineSnapshot(`
    $ refcheck batch export BATCH_1 --json
    [
    {"first_name": "Ana", "last_name": "Row1", "email": "a1@example.com", "phone": "+61400000001", "package_id": 102, "refcheck_row": 1, "refcheck_state": "accepted", "refcheck_request_id": "REQUEST_1", "refcheck_status": "RECEIVED", "refcheck_ordered_at": "2026-11-20T12:00:00.000Z", "refcheck_error": null, "refcheck_account": null, "refcheck_service": "http://localhost:PORT", "refcheck_package_id": "102", "refcheck_batch_id": "BATCH_1", "refcheck_name_digest": "x5931154f64741b42466b02baab621880", "refcheck_email_digest": "xb092fe445001552b4d6d8e97740ee606", "refcheck_phone_digest": "xac32bfb8ae31c22dd56f91ef1db8fc06"},
    {"first_name": "Ana", "last_name": "Row2", "email": "a2@example.com", "phone": "+61400000002", "package_id": 102, "refcheck_row": 2, "refcheck_state": "accepted", "refcheck_request_id": "REQUEST_2", "refcheck_status": "RECEIVED", "refcheck_ordered_at": "2026-11-20T12:00:00.000Z", "refcheck_error": null, "refcheck_account": null, "refcheck_service": "http://localhost:PORT", "refcheck_package_id": "102", "refcheck_batch_id": "BATCH_1", "refcheck_name_digest": "x541523fdb3c8524810ab068adffc5435", "refcheck_email_digest": "x74bcd92f32d00c1ee52d51d62320dcca", "refcheck_phone_digest": "x6b9e6d39ff534b7a83962f01b1f2c29a"},
    {"first_name": "Ana", "last_name": "Row3", "email": "a3@example.com", "phone": "+61400000003", "package_id": 102, "refcheck_row": 3, "refcheck_state": "pending", "refcheck_request_id": null, "refcheck_status": null, "refcheck_ordered_at": null, "refcheck_error": null, "refcheck_account": null, "refcheck_service": "http://localhost:PORT", "refcheck_package_id": "102", "refcheck_batch_id": "BATCH_1", "refcheck_name_digest": "x5bea1978406a4631108e57060a3014f0", "refcheck_email_digest": "xd640556b08caedb2e95a5ce28ec26a62", "refcheck_phone_digest": "xb91206767b91821470497978906fc4dc"},
    {"first_name": "Ana", "last_name": "Row4", "email": "a4@example.com", "phone": "+61400000004", "package_id": 102, "refcheck_row": 4, "refcheck_state": "pending", "refcheck_request_id": null, "refcheck_status": null, "refcheck_ordered_at": null, "refcheck_error": null, "refcheck_account": null, "refcheck_service": "http://localhost:PORT", "refcheck_package_id": "102", "refcheck_batch_id": "BATCH_1", "refcheck_name_digest": "xb99f667f99accb5df887097cec18ad24", "refcheck_email_digest": "xc589ae8acb17ea60a9fd60462f892d0d", "refcheck_phone_digest": "x9e1b96d4e52f301187c2a5a48ad99b90"}
    ]
    exit 0
  `)
  expect(
    await here.all([
      `batch export ${id} --state pending --output rest.csv --json`,
      `batch cancel ${id} --yes`,
    ]),
  ).toMatchInlineSnapshot(`
    $ refcheck batch export BATCH_1 --state pending --output rest.csv --json
    {
      "batch_id": "BATCH_1",
      "path": "HOME/rest.csv",
      "format": "csv",
      "rows": 2
    }
    exit 0

    $ refcheck batch cancel BATCH_1 --yes
    2> Cancelled 2 rows; they will not be sent.
    2> To order Ana Row3 (line 4), Ana Row4 (line 5) after all, write the cancelled rows to a file and run that: refcheck batch export BATCH_1 --state cancelled --output again.csv
    batch  BATCH_1
    people.csv, 102 Identity check only

    2  accepted
    2  cancelled
    4  rows

    results  HOME/people.results.csv
    exit 0
  `)
  expect(here.cat('rest.csv')).toMatchInlineSnapshot(`
    $ cat rest.csv
    first_name,last_name,email,phone,package_id,refcheck_row,refcheck_state,refcheck_request_id,refcheck_status,refcheck_ordered_at,refcheck_error,refcheck_account,refcheck_service,refcheck_package_id,refcheck_batch_id,refcheck_name_digest,refcheck_email_digest,refcheck_phone_digest
    Ana,Row3,a3@example.com,+61400000003,102,3,pending,,,,,,http://localhost:PORT,102,BATCH_1,x5bea1978406a4631108e57060a3014f0,xd640556b08caedb2e95a5ce28ec26a62,xb91206767b91821470497978906fc4dc
    Ana,Row4,a4@example.com,+61400000004,102,4,pending,,,,,,http://localhost:PORT,102,BATCH_1,xb99f667f99accb5df887097cec18ad24,xc589ae8acb17ea60a9fd60462f892d0d,x9e1b96d4e52f301187c2a5a48ad99b90
  `)
  expect((await here.type('batch run rest.csv --yes')).code).toBe(0)
  expect(here.listOrderedEmails()).toEqual(createEmails(4))
})

test('batch export refuses a file name whose ending is no export format, and writes nothing', async () => {
  const here = await session()
  const id = await createHalfSentBatch(here)
  expect(
    await here.all([
      `batch export ${id} --output march.pdf`,
      `batch export ${id} --format csv --output march.xlsx`,
    ]),
  ).toMatchInlineSnapshot(`
    $ refcheck batch export BATCH_1 --output march.pdf
    2> Error: --output march.pdf: an export cannot be written as .pdf
    2> Give a name that ends in .csv, .xlsx, .json or .html, or add --format.
    exit 2

    $ refcheck batch export BATCH_1 --format csv --output march.xlsx
    2> Error: --format csv contradicts --output march.xlsx
    2> Leave out --format, or give a name that ends in .csv.
    exit 2
  `)
  expect(existsSync(join(here.folder, 'march.pdf'))).toBe(false)
})

test('batch export refuses to overwrite a file, to print CSV with --json, and to write a workbook to a terminal', async () => {
  const here = await session()
  const id = await createHalfSentBatch(here)
  here.write('mine.csv', 'mine')
  expect(await here.all([`batch export ${id} --output mine.csv`, `batch export ${id} --json --format csv`]))
    .toMatchInlineSnapshot(`
      $ refcheck batch export BATCH_1 --output mine.csv
      2> Error: --output: mine.csv already exists
      2> Choose another name, or replace it with --overwrite.
      exit 2

      $ refcheck batch export BATCH_1 --json --format csv
      {
        "error": {
          "code": "usage",
          "message": "--json cannot be combined with a csv export on stdout",
          "hint": "Add --output FILE, or use --format json."
        }
      }
      2> Error: --json cannot be combined with a csv export on stdout
      exit 2
    `)
  expect(await here.type(`batch export ${id} --format xlsx`, { tty: { stdout: true } }))
    .toMatchInlineSnapshot(`
    $ refcheck batch export BATCH_1 --format xlsx
    2> Error: refused to write a workbook to the terminal
    2> Add --output FILE, or pipe it to a program.
    exit 2
  `)
  expect(here.read('mine.csv')).toBe('mine')
  const { stdout } = await here.type(`batch export ${id} --format json`)
  expect(JSON.parse(stdout)).toMatchObject([{ first_name: 'Ana', refcheck_state: 'accepted' }, {}, {}, {}])
})

test('an HTML export escapes names that contain HTML', async () => {
  const { type, write, read, folder } = await session()
  const name = '<script>alert(1)</script>'
  write('people.csv', `${header}\n${name},Row,odd@example.com,+61400000001\n`)
  const { batch_id: id } = (await type(`${run} --json`)).json() as { batch_id: string }
  expect(await type(`batch export ${id} --output odd.html`)).toMatchInlineSnapshot(`
    $ refcheck batch export BATCH_1 --output odd.html
    1 row written to HOME/odd.html
    exit 0
  `)
  const page = read('odd.html')
  expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
  expect(page).not.toContain(name)
  expect(statSync(join(folder, 'odd.html')).mode & 0o777).toBe(0o600)
})

test('an HTML export shows a removed person as "removed", and does not count rows that were left out', async () => {
  const here = await session()
  const id = await createHalfSentBatch(here)
  await here.all([`batch cancel ${id} --yes`, 'store purge --email a1@example.com --yes'])
  await here.type(`batch export ${id} --output half.html`)
  const page = here.read('half.html').replaceAll(/\s+/g, ' ')
  expect(page).toContain('<dd>0 <small>of 2, 2 left out</small></dd>')
  expect(page).toContain('<bdi>removed</bdi>')
  expect(page.match(/<span class="pill[^>]*>[^<]*/g)).toEqual([
    '<span class="pill new">RECEIVED',
    '<span class="pill new">RECEIVED',
    '<span class="pill gone">left out',
    '<span class="pill gone">left out',
  ])
})

test('a person who is in a file twice counts once, and the second row names the first', async () => {
  const here = await session()
  const lea = 'Lea,Blank,lea@example.com,+61400000001'
  here.write('mix.csv', `${header}\n${lea}\n${lea}\nHugo,Row,hugo@example.com,+61400000002\n`)
  expect(await here.type('batch run mix.csv --package 102 --yes --max 1')).toMatchInlineSnapshot(`
    $ refcheck batch run mix.csv --package 102 --yes --max 1
    2>
    2> mix.csv: 3 rows
    2>   2 orders of 102 Identity check only
    2>   1 row the same as an earlier row, not sent
    2>     Lea Blank (line 3), as in line 2
    2> Sending takes under a minute
    2>
    1 of 2 people in mix.csv is ordered; 1 pending

    batch  BATCH_1
    mix.csv, 102 Identity check only

    1  accepted
    1  pending
    1  duplicate
    3  rows

    results  HOME/mix.results.csv
    2> Resume with: refcheck batch resume BATCH_1
    exit 10
  `)
  const [{ batch_id: id }] = (await here.type('batch list --json')).json() as [{ batch_id: string }]
  expect(await here.all([`batch resume ${id} --yes`, 'batch list'])).toMatchInlineSnapshot(`
    $ refcheck batch resume BATCH_1 --yes
    ✔ All 2 people in mix.csv are ordered
       1 now: Hugo Row
       1 before

    batch  BATCH_1
    mix.csv, 102 Identity check only

    2  accepted
    1  duplicate
    3  rows

    results  HOME/mix.results.csv

    Next: refcheck request wait --batch BATCH_1
    exit 0

    $ refcheck batch list
    BATCH ID                              NAME     ADDED AT    ORDERED  FINISHED  STATE
    BATCH_1                               mix.csv  2026-11-20  2 of 2   0         done
    exit 0
  `)
  await here.clock.advance(3_600_000)
  await here.type('request list --refresh')
  expect(await here.all(['batch list', 'batch run mix.csv --package 102'])).toMatchInlineSnapshot(`
    $ refcheck batch list
    BATCH ID                              NAME     ADDED AT    ORDERED  FINISHED  STATE
    BATCH_1                               mix.csv  2026-11-20  2 of 2   2         done
    exit 0

    $ refcheck batch run mix.csv --package 102
    2> mix.csv is batch BATCH_1: nothing left to send.
    ✔ All 2 people in mix.csv are ordered, on 2026-11-20 12:00 +00:00; nothing to do

    batch  BATCH_1
    mix.csv, 102 Identity check only

    2  accepted
    1  duplicate
    3  rows

    results  HOME/mix.results.csv

    Next: refcheck report sync --output reports
    exit 0
  `)
  await here.type(`batch export ${id} --output mix.html`)
  const page = here.read('mix.html').replaceAll(/\s+/g, ' ')
  expect(page.match(/<option[^>]*>[^<]*|<small>\([^<]*|<caption>[^.]*/g)).toMatchInlineSnapshot(`
    [
      "<option value="">all",
      "<option value="COMPLETED">COMPLETED",
      "<option value="duplicate">duplicate",
      "<caption> 2 people in 3 rows",
      "<small>(same as another row)",
    ]
  `)
})

test('an HTML export names the people of invalid rows from the file, each with its own reason', async () => {
  const here = await session()
  const rows = ['Bea,Bad,bea@example.com,12', 'Nia,,nia@example.com,+61400000002']
  here.write('bad.csv', `${header}\n${rows.join('\n')}\nAna,Row,ana@example.com,+61400000003\n`)
  const runBad = 'batch run bad.csv --package 102 --yes --on-invalid skip --json'
  const { batch_id: id } = (await here.type(runBad)).json() as { batch_id: string }
  await here.type(`batch export ${id} --output bad.html`)
  const page = here.read('bad.html').replaceAll(/\s+/g, ' ')
  expect(page.match(/<th scope="row">.*?<\/th>|<br \/>.*?(?=<br|<\/small)/g)).toMatchInlineSnapshot(`
    [
      "<br /> <small >The row breaks a rule. Nothing was sent. ",
      "<br />Bea Bad: phone has no +; start it with + and the country code, such as +61400000000",
      "<br />Nia: last_name is required",
      "<th scope="row"><bdi>Bea Bad</bdi></th>",
      "<th scope="row"><bdi>Nia</bdi></th>",
      "<th scope="row"><bdi>Ana Row</bdi></th>",
    ]
  `)
})

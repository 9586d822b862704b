import { expect, test } from 'vitest'

import { session } from '../harness/session.ts'

const header = 'first_name,last_name,email,phone'

/** Rows of the first file, each with the spelling of the same person in the second file. */
const people = [
  ['a corrected phone', 'Cora,Low,cora@example.com,+61400000901', 'Cora,Low,cora@example.com,+61400000911'],
  ['Ann and Anne', 'Ann,Low,ann@example.com,+61400000902', 'Anne,Low,ann@example.com,+61400000902'],
  [
    'another apostrophe',
    'Mia,O’Neil,mia@example.com,+61400000903',
    "Mia,O'Neil,mia@example.com,+61400000903",
  ],
  ['without the accent', 'Zoë,Low,zoe@example.com,+61400000904', 'Zoe,Low,zoe@example.com,+61400000904'],
  [
    'a zero after the country',
    'Dan,Low,dan@example.com,+61400000905',
    'Dan,Low,dan@example.com,+610400000905',
  ],
  ['names swapped', 'Eve,Ray,eve@example.com,+61400000906', 'Ray,Eve,eve@example.com,+61400000906'],
  [
    'a new e-mail, the same phone',
    'Fay,Low,fay@example.com,+61400000907',
    'Fay,Low,fay.low@example.com,+61400000907',
  ],
  [
    'somebody whose outcome is unknown',
    'Gus,Low,gus+cut-before@example.com,+61400000908',
    'Gus,Low,gus+cut-before@example.com,+61400000918',
  ],
] as const

test('a person who was ordered is not ordered again under another spelling, even if the first outcome is unknown', async () => {
  const { type, write, listOrderedEmails } = await session()
  write('people.csv', `${header}\n${people.map(([, first]) => first).join('\n')}\n`)
  const run = await type('batch run people.csv --package 102 --yes')
  const before = listOrderedEmails()
  expect([run.code, before.length]).toEqual([8, 7])
  write('again.csv', `${header}\n${people.map(([, , second]) => second).join('\n')}\n`)
  const secondRun = (await type('batch run again.csv --package 102 --yes --json')).json() as {
    batch_id: string
  }
  expect(listOrderedEmails()).toEqual(before)
  const rows = (await type(`batch rows ${secondRun.batch_id} --json`)).json() as {
    state: string
    error: string
  }[]
  expect(rows.map(({ state, error }, index) => [people[index]?.[0], state, error?.replace(/ as .*/, '')]))
    .toMatchInlineSnapshot(`
      [
        [
          "a corrected phone",
          "held",
          "held: has the same e-mail and name",
        ],
        [
          "Ann and Anne",
          "held",
          "held: has the same e-mail and phone",
        ],
        [
          "another apostrophe",
          "held",
          "held: has the same e-mail and phone and name",
        ],
        [
          "without the accent",
          "held",
          "held: has the same e-mail and phone and name",
        ],
        [
          "a zero after the country",
          "duplicate",
          "is the same order",
        ],
        [
          "names swapped",
          "held",
          "held: has the same e-mail and phone and name",
        ],
        [
          "a new e-mail, the same phone",
          "held",
          "held: has the same phone and name",
        ],
        [
          "somebody whose outcome is unknown",
          "held",
          "held: has the same e-mail and name",
        ],
      ]
    `)
})

import { expect, test } from 'vitest'

import { recordForFaultTable } from '../harness/faults/fault-row.ts'
import { orderBody, addAgentPlan } from '../harness/agent-plans.ts'
import { formatCsv as csvText } from '../../src/output/present.ts'
import { orderArguments } from '../harness/people.ts'
import { session } from '../harness/session.ts'

recordForFaultTable('screens', { mustNotHappen: 'forged screens' })

/** Fills a line of a terminal of 80 columns, so that the text after it looks like another line. */
const padding = '\u00A0'.repeat(70)
const forgedName = `Ana${padding} Recipient  Last name   Lee${padding.repeat(11)} Order 102 for Ana Lee (ana@example.com)?`
const blanks = [
  '\u00A0',
  '\u3000',
  '\u2003 \u2003',
  ' ',
  '\u2800',
  ' \uFE0F',
  ' \u034F',
  '\u{1D159}',
  '\u{13441} ',
]
const terminal = { tty: true, exported: { NO_COLOR: '1' } }
const removeMarks = (text: string): string => text.replaceAll(/^2> (?=FOR|Recipient)/gm, '')

test('a name cannot imitate lines of a plan: the review collapses blanks and wraps the name, and the question repeats it', async () => {
  const here = await session()
  const body = JSON.parse(orderBody('Mallory')) as { recipient: Record<string, string> }
  const recipient = { ...body.recipient, first_name: forgedName }
  const code = await addAgentPlan(here, { kind: 'order', body: JSON.stringify({ ...body, recipient }) })
  const answers = [
    {
      ask: /^Order 102 Identity check only for Ana Recipient Last name Lee Order 102 for Ana Lee \(ana@example\.com\)\? Example \(mallory@example\.com\) at 127/,
      confirm: false,
    },
  ]
  const { stderr } = await here.type(`approve ${code}`, { ...terminal, answers })
  expect(stderr).toContain(
    [
      'FOR        FIELD       ANSWER',
      'Recipient  First name  Ana Recipient Last name Lee Order 102 for Ana Lee',
      '                       (ana@example.com)?',
      'Recipient  Last name   Example',
      'Recipient  Email       mallory@example.com',
    ].join('\n'),
  )
  expect(stderr).not.toMatch(/\p{Zs}{24,}\S.*Recipient|\u00A0/u)
})

test('the review of a plan shows an answer of 5,000 characters to its end', async () => {
  const here = await session()
  const body = JSON.parse(orderBody('Mallory', 101)) as object
  const title = `Nurse ${'of many wards '.repeat(350)}and of a ward that nobody saw`
  const additional_information = [
    { code: 'reference', fields: { position_title: title } },
    {
      code: 'ncc_acic',
      fields: {
        date_of_birth: '1990-04-30',
        is_volunteer: false,
        previous_names: [],
        residential_address: { street: '1 High St', postcode: '3000' },
      },
    },
    { code: 'icrc', fields: { years_of_history: 5, annual_income: 85000.5 } },
  ]
  const planBody = JSON.stringify({ ...body, additional_information })
  const code = await addAgentPlan(here, { kind: 'order', body: planBody })
  const answers = [{ ask: /^Order 101/, confirm: false }]
  const { stderr } = await here.type(`approve ${code}`, { ...terminal, columns: 160, answers })
  expect(stderr.replaceAll(/\s+/g, ' ')).toContain(title)
})

test.each(blanks)('a run of the blank %j is one space in a review', async (blank) => {
  const here = await session()
  const first = `Ana${blank.repeat(Math.floor(900 / blank.length))}x`
  const body = orderBody('Mallory').replace('"Mallory"', JSON.stringify(first))
  const code = await addAgentPlan(here, { kind: 'order', body })
  const answers = [{ ask: /^Order 102/, confirm: false }]
  const { stderr } = await here.type(`approve ${code}`, { ...terminal, answers })
  expect(removeMarks(stderr)).toMatch(/^Recipient {2}First name {2}Ana (?:x|.?…)$/m)
})

test('a long name is truncated with a mark in every table, plan, review and question, and sent whole', async () => {
  const here = await session()
  const longName = `Ana${'x'.repeat(197)}`
  const truncatedName = `Ana${'x'.repeat(97)}…`
  const reviewedPerson = `${truncatedName} Example (ana@example.com)`
  const argv = orderArguments(longName, []).map((word) => (word.includes('@') ? 'ana@example.com' : word))
  const wide = { ...terminal, columns: 2000 }
  const orderStep = await here.type(argv, {
    ...wide,
    answers: [
      { ask: /Is everything correct/, choose: /^Yes/ },
      {
        ask: new RegExp(
          `^Order 102 Identity check only for ${reviewedPerson.replaceAll(/[()]/g, '\\$&')} at `,
        ),
        confirm: true,
      },
    ],
  })
  expect(orderStep.code).toBe(0)
  // The command for pasting has the whole name; it is printed after the order.
  const [before = ''] = orderStep.stderr.split('The same order as one command')
  expect(before).toContain(truncatedName)
  const [request] = here.sandbox.requests()
  expect(request?.recipient.first_name).toBe(longName)
  here.write(
    'people.csv',
    csvText([
      ['first_name', 'last_name', 'email', 'phone'],
      [longName, 'Example', 'ana@example.com', '+61412345678'],
      [`Bo${longName} `, 'Other', 'ana@example.com', '+61412345679'],
      [`Cy${longName} `, 'Third', 'cy@example.com', '+61412345677'],
    ]),
  )
  const texts = [before]
  for (const line of [
    'batch validate people.csv --package 102',
    'batch run people.csv --package 102 --yes',
    'request list',
    `request get ${request?.request_id ?? ''}`,
    'status',
  ]) {
    const { stdout, stderr } = await here.type(line, wide)
    texts.push(stdout + stderr)
  }
  const [batch] = (await here.type('batch list --json')).json() as { batch_id: string }[]
  const { stdout, stderr } = await here.type(`batch rows ${batch?.batch_id ?? ''}`, wide)
  texts.push(stdout + stderr)
  for (const text of texts) expect(text.replaceAll('\n', '')).not.toMatch(/x{101}/)
  // JSON documents have the whole name.
  expect((await here.type('request list --json')).stdout).toContain(longName)
})

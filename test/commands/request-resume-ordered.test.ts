import { expect, test } from 'vitest'

import type { Answer } from '../harness/scripted-prompter.ts'
import { session } from '../harness/session.ts'

const create = 'request create --package 102'
const createByFlags = `${create} --first-name Zoë --last-name Lee --email zoe@example.com --phone +61412345678 --yes`
const personAnswers: Answer[] = [
  { ask: /First name/, type: 'Zoë' },
  { ask: /Last name/, type: 'Lee' },
  { ask: /Email/, type: 'zoe@example.com' },
  { ask: /Phone/, type: '+61412345678' },
]
const refused = /^Zoë Lee: package 102 was already ordered for "zoe@example.com"/

test('saved answers of a person who was already ordered can be changed with --resume', async () => {
  const here = await session()
  await here.type(createByFlags)
  const cancel: Answer = { ask: refused, choose: 'Leave' }
  expect((await here.type(create, { answers: [...personAnswers, cancel] })).stderr).toContain(
    'Your answers are kept',
  )
  expect(await here.type('request create --resume', { answers: [cancel] })).toMatchInlineSnapshot(`
    $ refcheck request create --resume
    2> Continuing the order of Zoë Lee, 102 Identity check only, 4 answers, 2026-11-20 12:00 +00:00
    ? Zoë Lee: package 102 was already ordered for "zoe@example.com": request REQUEST_1, on 2026-11-20 12:00 +00:00, last seen RECEIVED when it was ordered.: Leave
    2> To order it once more, add --allow-duplicate. Show the request with: refcheck request get REQUEST_1
    2> Your answers are kept. Continue with: refcheck request create --resume
    exit 2
  `)
  const changed: Answer[] = [
    { ask: refused, choose: 'Change an answer' },
    { ask: /^Change which/, choose: /^First name/ },
    { ask: /First name/, type: 'Zora' },
    { ask: /^Is everything correct/, choose: /^Change/ },
    { ask: /^Change which/, choose: /^Email/ },
    { ask: /Email/, type: 'zora@example.com' },
    { ask: /^Is everything correct/, choose: /^Leave/ },
  ]
  expect(await here.type('request create --resume', { answers: changed })).toMatchInlineSnapshot(`
    $ refcheck request create --resume
    2> Continuing the order of Zoë Lee, 102 Identity check only, 4 answers, 2026-11-20 12:00 +00:00
    ? Zoë Lee: package 102 was already ordered for "zoe@example.com": request REQUEST_1, on 2026-11-20 12:00 +00:00, last seen RECEIVED when it was ordered.: Change an answer
    ? Change which answer?: First name (Zoë)
    ? First name (required): Zora
    2>
    2> Package 102: Identity check only
    2>
    2> FOR        FIELD       ANSWER
    2> Recipient  First name  Zora
    2> Recipient  Last name   Lee
    2> Recipient  Email       zoe@example.com
    2> Recipient  Phone       +61412345678
    2>
    ? Is everything correct?: Change an answer
    ? Change which answer?: Email (zoe@example.com)
    ? Email (required): zora@example.com
    2>
    2> Package 102: Identity check only
    2>
    2> FOR        FIELD       ANSWER
    2> Recipient  First name  Zora
    2> Recipient  Last name   Lee
    2> Recipient  Email       zora@example.com
    2> Recipient  Phone       +61412345678
    2>
    ? Is everything correct?: Leave for now, and keep the answers
    2> Cancelled; nothing was ordered
    2> Your answers are kept. Continue with: refcheck request create --resume
    exit 130
  `)
})

test('saved answers of a person who was ordered with flags meanwhile can be deleted with --resume', async () => {
  const here = await session()
  await here.type(create, {
    answers: [...personAnswers, { ask: /^Is everything correct/, choose: /^Leave/ }],
  })
  await here.type(createByFlags)
  const choice: Answer = { ask: refused, choose: 'Delete the answers' }
  const confirm = (yes: boolean): Answer => ({ ask: 'Delete all answers about Zoë Lee?', confirm: yes })
  const answers = [choice, confirm(false), choice, confirm(true)]
  expect(await here.type('request create --resume', { answers })).toMatchInlineSnapshot(`
    $ refcheck request create --resume
    2> Continuing the order of Zoë Lee, 102 Identity check only, 4 answers, 2026-11-20 12:00 +00:00
    ? Zoë Lee: package 102 was already ordered for "zoe@example.com": request REQUEST_1, on 2026-11-20 12:00 +00:00, last seen RECEIVED when it was ordered.: Delete the answers
    ? Delete all answers about Zoë Lee? no
    ? Zoë Lee: package 102 was already ordered for "zoe@example.com": request REQUEST_1, on 2026-11-20 12:00 +00:00, last seen RECEIVED when it was ordered.: Delete the answers
    ? Delete all answers about Zoë Lee? yes
    2> Cancelled; nothing was ordered, and the answers are deleted
    exit 130
  `)
  expect((await here.type('request create --resume')).stderr).toMatch(/^Error: no answers are kept/)
  expect(here.listOrderedEmails()).toEqual(['zoe@example.com'])
})

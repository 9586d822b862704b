import { expect, test } from 'vitest'

import type { Answer } from '../harness/scripted-prompter.ts'
import { type Session, session } from '../harness/session.ts'

/** Leaves an order of package 102 after three answers, and replaces the package. Returns the id of its successor. */
async function replacePackageOfDraft({ type, sandbox }: Session): Promise<number> {
  const answers: Answer[] = [
    { ask: /First name/, type: 'Zoë' },
    { ask: /Last name/, type: 'Low' },
    { ask: /Email/, type: 'zoe@example.com' },
    { ask: /Phone/, leave: true },
  ]
  await type('request create --package 102', { answers })
  return sandbox.replacePackage(102)
}

const question = /^Package 102 \(Identity check only\) is INACTIVE/

test('answers for a package that was replaced are continued with its successor, which asks only for what is missing', async () => {
  const here = await session()
  const { type, listOrderedEmails } = here
  const successor = await replacePackageOfDraft(here)
  expect(await type('request create --resume', { answers: [{ ask: question, choose: 'Leave' }] }))
    .toMatchInlineSnapshot(`
    $ refcheck request create --resume
    2> Continuing the order of Zoë Low, 102 Identity check only, 3 answers, 2026-11-20 12:00 +00:00
    ? Package 102 (Identity check only) is INACTIVE; only ACTIVE packages can be ordered.: Leave
    2> Cancelled; nothing was ordered
    2> Your answers are kept.
    2> Continue with: refcheck request create --resume --package 107
    2> Delete them on a terminal, with: refcheck request create --resume
    exit 130
  `)
  expect(await type('request create --resume --yes')).toMatchInlineSnapshot(`
    $ refcheck request create --resume --yes
    2> Continuing the order of Zoë Low, 102 Identity check only, 3 answers, 2026-11-20 12:00 +00:00
    2> Error: package 102 (Identity check only) is INACTIVE; only ACTIVE packages can be ordered
    2> Nothing was sent. Package 107 Identity check only probably replaces it: order it with --package 107
    2> Your answers are kept.
    2> Continue with: refcheck request create --resume --yes --package 107
    2> Delete them on a terminal, with: refcheck request create --resume --yes
    exit 2
  `)
  const answers: Answer[] = [
    { ask: /Phone/, type: '+61412345678' },
    { ask: /Consent/, type: 'email' },
    { ask: /Is everything correct/, choose: /^Yes/ },
    { ask: /^Order 107/, confirm: true },
  ]
  expect(await type(`request create --resume --package ${successor}`, { answers })).toMatchInlineSnapshot(`
    $ refcheck request create --resume --package 107
    2> Continuing the order of Zoë Low, 102 Identity check only, 3 answers, 2026-11-20 12:00 +00:00, now for package 107
    ? Phone (required): +61412345678
    ? Consent: Consent method (required): email
    2>
    2> Package 107: Identity check only
    2>
    2> FOR        FIELD           ANSWER
    2> Recipient  First name      Zoë
    2> Recipient  Last name       Low
    2> Recipient  Email           zoe@example.com
    2> Recipient  Phone           +61412345678
    2> Consent    Consent method  email
    2>
    ? Is everything correct?: Yes, go on
    ? Order 107 Identity check only for Zoë Low (zoe@example.com) at 127.0.0.1:PORT as olive.owner@example.com? yes
    created  REQUEST_1                             RECEIVED
    2> The same order as one command:
    2>   refcheck request create --package 107 --first-name Zoë --last-name Low --email zoe@example.com --phone +61412345678 --field consent.consent_method=email --yes
    2> Follow it with: refcheck request wait REQUEST_1
    exit 0
  `)
  expect(listOrderedEmails()).toEqual(['zoe@example.com'])
})

test('answers for a package that was replaced can be deleted', async () => {
  const here = await session()
  await replacePackageOfDraft(here)
  const answers = [{ ask: question, choose: 'Delete the answers' }]
  expect(await here.type('request create --resume', { answers })).toMatchInlineSnapshot(`
    $ refcheck request create --resume
    2> Continuing the order of Zoë Low, 102 Identity check only, 3 answers, 2026-11-20 12:00 +00:00
    ? Package 102 (Identity check only) is INACTIVE; only ACTIVE packages can be ordered.: Delete the answers
    2> Cancelled; nothing was ordered, and the answers are deleted
    exit 130
  `)
  expect((await here.type('request create --resume')).stderr).toContain('no answers are kept')
})

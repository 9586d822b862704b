import { describe, expect, test } from 'vitest'

import type { PackageSchema } from '../../../src/contract/package-schema.ts'
import type { RequestBody } from '../../../src/contract/request-body.ts'
import { interview, type InterviewOptions } from '../../../src/usecases/form/interview.ts'
import type { ReviewRow } from '../../../src/domain/form/review.ts'
import type { DraftBody } from '../../../src/domain/form/validate.ts'
import { type Answer, ScriptedPrompter } from '../../harness/scripted-prompter.ts'
import { plainSchema, recipientOf, sampleSchema, schemaOf } from '../../domain/form/sample-schema.ts'

const yes: Answer = { ask: 'Is everything correct?', choose: 'Yes, go on' }

/** Holds an interview about `given` and sees that every answer was asked for. */
async function held(schema: PackageSchema, given: DraftBody, answers: Answer[], options?: InterviewOptions) {
  const prompter = new ScriptedPrompter(answers)
  const body = await interview(prompter, schema, given, options)
  prompter.finish()
  return body
}

const nothing = (schema: PackageSchema): DraftBody => ({ package_id: schema.id, recipient: {} })

/** A draft with the recipient given, so that only the check is asked for. */
const known = (): DraftBody => ({ package_id: 12, recipient: recipientOf() })

test('a person is asked, told what is wrong as they answer, shown a review, and says yes', async () => {
  const shown: ReviewRow[][] = []
  const answers: Answer[] = [
    { ask: 'First name (required)', type: '', refused: 'is empty, but required' },
    { ask: 'First name (required)', type: 'Ann' },
    { ask: 'Last name (required)', type: 'Lee' },
    { ask: 'Email (required)', type: 'ann', refused: /^has no @/ },
    { ask: 'Email (required)', type: 'ann@example.com', help: 'Where the service writes to the person.' },
    { ask: 'Phone (required)', type: '0400', refused: /^has no \+/ },
    { ask: 'Phone (required)', type: '+61 400 000 000' },
    yes,
  ]
  const body = await held(plainSchema, nothing(plainSchema), answers, { show: (rows) => shown.push(rows) })
  expect(body).toEqual({ package_id: 7, recipient: recipientOf() })
  expect(shown.map((rows) => rows.map(({ label, value }) => `${label}: ${value ?? ''}`))).toEqual([
    ['First name: Ann', 'Last name: Lee', 'Email: ann@example.com', 'Phone: +61400000000'],
  ])
})

test('only what the flags left out is asked for', async () => {
  const given = {
    package_id: 7,
    recipient: { first_name: 'Ann', last_name: 'Lee', phone: '+61 400 000 000' },
  }
  const body = await held(plainSchema, given, [{ ask: 'Email (required)', type: 'ann@example.com' }, yes])
  expect(body.recipient.phone).toBe('+61400000000')
})

test('each scalar type is asked for by its description and checked by its type', async () => {
  const schema = schemaOf({
    visa: {
      date_of_birth: ['string', true, 'Date of birth (YYYY-MM-DD)'],
      visits: ['integer', true],
      score: ['number', false, 'Points, if known'],
      consent: ['boolean', true, 'Has agreed?'],
      note: ['string', false],
      later: ['a_type_of_tomorrow', false],
    },
  })
  const asks = (label: string, required = true) =>
    `Check visa: ${label} (${required ? 'required' : 'optional'})`
  const body = await held(schema, known(), [
    { ask: asks('Date of birth'), type: '2026-02-30', refused: 'is a day that does not exist' },
    { ask: asks('Date of birth'), type: '1990-04-23', help: 'Date of birth (YYYY-MM-DD).' },
    { ask: asks('Visits'), type: '', refused: /^is not a whole number/ },
    { ask: asks('Visits'), type: '12abc', refused: /^is not a whole number/ },
    { ask: asks('Visits'), type: '12', help: 'A whole number.' },
    { ask: asks('Score', false), type: 'high', refused: /^is not a number/ },
    { ask: asks('Score', false), type: '1.5', help: 'Points, if known. A number. Press Enter to skip it.' },
    { ask: asks('Consent'), type: '', refused: /^is neither yes nor no/ },
    { ask: asks('Consent'), type: 'y', help: 'Has agreed? Yes or no.' },
    { ask: asks('Note', false), type: '' },
    { ask: asks('Later', false), type: 'x' },
    yes,
  ])
  expect(body.additional_information).toEqual([
    {
      code: 'visa',
      fields: { date_of_birth: '1990-04-23', visits: 12, score: 1.5, consent: true, later: 'x' },
    },
  ])
})

describe('lists and groups', () => {
  const schema = schemaOf({
    cv: { jobs: ['array', true, 'Where worked'], home: ['object', false, 'Address'] },
  })
  const jobs = 'Check cv: Jobs'
  const home = 'Check cv: Home'
  const skipHome: Answer = { ask: `${home} (a group of names and values, optional)`, choose: 'Skip it' }
  const oneByOne: Answer = { ask: `${jobs} (a list, required)`, choose: 'Item by item' }

  test('a list of texts, item by item', async () => {
    const body = await held(schema, known(), [
      oneByOne,
      { ask: `${jobs}: what is each item?`, choose: 'Text' },
      { ask: `${jobs}, item 1`, type: '', refused: 'is empty, but required' },
      { ask: `${jobs}, item 1`, type: 'Baker' },
      { ask: `Add another item to ${jobs}?`, confirm: true },
      { ask: `${jobs}, item 2`, type: '12' },
      { ask: `Add another item to ${jobs}?`, confirm: false },
      skipHome,
      yes,
    ])
    expect(body.additional_information).toEqual([{ code: 'cv', fields: { jobs: ['Baker', '12'] } }])
  })

  test('an empty list is an answer, even where one is required', async () => {
    const none: Answer = { ask: `${jobs} (a list, required)`, choose: 'None: an empty list' }
    const body = await held(schema, known(), [none, skipHome, yes])
    expect(body.additional_information).toEqual([{ code: 'cv', fields: { jobs: [] } }])
  })

  test('groups in a list, and a list in a group', async () => {
    const body = await held(schema, known(), [
      oneByOne,
      { ask: `${jobs}: what is each item?`, choose: 'A group of names and values' },
      { ask: `${jobs}, item 1, name 1`, type: '', refused: 'is empty; give the value a name' },
      { ask: `${jobs}, item 1, name 1`, type: '__proto__' },
      { ask: `${jobs}, item 1, __proto__: what is it?`, choose: 'A number' },
      { ask: `${jobs}, item 1, __proto__`, type: 'x', refused: /^is not a number/ },
      { ask: `${jobs}, item 1, __proto__`, type: '2' },
      { ask: `Add another name and value to ${jobs}, item 1?`, confirm: true },
      { ask: `${jobs}, item 1, name 2`, type: '__proto__', refused: 'is already there' },
      { ask: `${jobs}, item 1, name 2`, type: 'years' },
      { ask: `${jobs}, item 1, years: what is it?`, choose: 'A list' },
      { ask: `${jobs}, item 1, years: what is each item?`, choose: 'Yes or no' },
      { ask: `${jobs}, item 1, years, item 1`, type: 'no' },
      { ask: `Add another item to ${jobs}, item 1, years?`, confirm: false },
      { ask: `Add another name and value to ${jobs}, item 1?`, confirm: false },
      { ask: `Add another item to ${jobs}?`, confirm: false },
      skipHome,
      yes,
    ])
    expect(JSON.stringify(body.additional_information)).toBe(
      '[{"code":"cv","fields":{"jobs":[{"__proto__":2,"years":[false]}]}}]',
    )
  })

  test('either as JSON, checked as it is typed, and again from what is there', async () => {
    const body = await held(schema, known(), [
      {
        ask: `${jobs} (a list, required)`,
        choose: 'As JSON',
        offered: ['Item by item', 'None: an empty list', 'As JSON'],
      },
      { ask: `${jobs}, as JSON`, type: '{}', refused: 'is an object, but an array is expected' },
      { ask: `${jobs}, as JSON`, type: '["Baker"', refused: /it ends before it is complete/ },
      { ask: `${jobs}, as JSON`, type: '["Baker"]', initial: '', help: 'Where worked.' },
      { ask: `${home} (a group of names and values, optional)`, choose: 'As JSON' },
      { ask: `${home}, as JSON`, type: '{"street": {"no": 1}}' },
      { ask: 'Is everything correct?', choose: 'Change Check cv: Jobs (Baker)' },
      { ask: `${jobs} (a list, required)`, choose: 'As JSON, starting from the current value' },
      { ask: `${jobs}, as JSON`, type: '["Baker", null]', initial: '["Baker"]' },
      { ask: 'Is everything correct?', choose: 'Change Check cv: Home ({"street":{"no":1}})' },
      {
        ask: `${home} (a group of names and values, optional)`,
        choose: 'Name by name, each with its value',
      },
      { ask: `${home}, name 1`, type: 'street' },
      { ask: `${home}, street: what is it?`, choose: 'Text' },
      { ask: `${home}, street`, type: 'High St' },
      { ask: `Add another name and value to ${home}?`, confirm: false },
      yes,
    ])
    expect(body.additional_information).toEqual([
      { code: 'cv', fields: { jobs: ['Baker', null], home: { street: 'High St' } } },
    ])
  })
})

describe('the review', () => {
  const complete = (): DraftBody => ({ package_id: 7, recipient: recipientOf() })

  test('lets any answer be changed, and shows the answers again', async () => {
    const shown: (string | undefined)[] = []
    const body = await held(
      plainSchema,
      complete(),
      [
        {
          ask: 'Is everything correct?',
          choose: 'Change First name (Ann)',
          offered: [
            'Yes, go on',
            'Change First name (Ann)',
            'Change Last name (Lee)',
            'Change Email (ann@example.com)',
            'Change Phone (+61400000000)',
            'Cancel, and send nothing',
          ],
        },
        { ask: 'First name (required)', initial: 'Ann', type: 'Anna' },
        { ask: 'Is everything correct?', choose: /^Change Phone/ },
        { ask: 'Phone (required)', initial: '+61400000000', type: undefined },
        yes,
      ],
      { show: ([first]) => shown.push(first?.value) },
    )
    expect(body.recipient).toEqual(recipientOf({ first_name: 'Anna' }))
    expect(shown).toEqual(['Ann', 'Anna', 'Anna'])
  })

  test('an optional answer can be given late, and taken back', async () => {
    const given: DraftBody = {
      ...known(),
      additional_information: [
        { code: 'ncc_acic', fields: { date_of_birth: '1990-04-23', years_resident: 3 } },
        { code: 'licence', fields: { licence_number: 'A', commercial: true, points: 1, issuer: {} } },
      ],
    }
    const list = 'Check ncc_acic: Aliases (a list, optional)'
    const body = await held(sampleSchema, given, [
      { ask: list, choose: 'Skip it' },
      { ask: 'Check notes: Remark (optional)', type: '' },
      { ask: 'Is everything correct?', choose: 'Change Check ncc_acic: Years resident (3)' },
      { ask: 'Check ncc_acic: Years resident (optional)', initial: '3', type: '' },
      { ask: 'Is everything correct?', choose: 'Change Check licence: Issuer ({})' },
      { ask: 'Check licence: Issuer (a group of names and values, optional)', choose: 'Skip it' },
      { ask: 'Is everything correct?', choose: 'Change Check licence: Commercial (yes)' },
      { ask: 'Check licence: Commercial (required)', initial: 'yes', type: 'no' },
      { ask: 'Is everything correct?', choose: 'Change Check notes: Remark (not given)' },
      { ask: 'Check notes: Remark (optional)', initial: '', type: 'Ring twice' },
      yes,
    ])
    expect(body.additional_information).toEqual([
      { code: 'ncc_acic', fields: { date_of_birth: '1990-04-23' } },
      { code: 'licence', fields: { licence_number: 'A', commercial: false, points: 1 } },
      { code: 'notes', fields: { remark: 'Ring twice' } },
    ])
  })

  test('lets the person leave', async () => {
    const leaving = held(plainSchema, complete(), [
      { ask: 'Is everything correct?', choose: 'Cancel, and send nothing' },
    ])
    await expect(leaving).rejects.toMatchObject({
      code: 'interrupted',
      message: 'cancelled; nothing was ordered',
    })
  })

  test('is followed by the last question, and a no to it leads back to the review', async () => {
    const lastQuestion = async ({ recipient }: RequestBody): Promise<string> =>
      `Order for ${recipient.first_name}?`
    const answers: Answer[] = [
      yes,
      { ask: 'Order for Ann?', confirm: false },
      { ask: 'Is everything correct?', choose: /^Change First name/ },
      { ask: 'First name (required)', type: 'Anna' },
      yes,
      { ask: 'Order for Anna?', confirm: true },
    ]
    const body = await held(plainSchema, complete(), answers, { lastQuestion })
    expect(body.recipient.first_name).toBe('Anna')
  })

  test('that is left tells how to go on from the answers', async () => {
    const leaving = held(plainSchema, nothing(plainSchema), [
      { ask: 'First name (required)', type: 'Zoë' },
      { ask: 'Last name (required)', type: "O'Brien" },
      { ask: 'Email (required)', leave: true },
    ])
    await expect(leaving).rejects.toMatchObject({
      code: 'interrupted',
      hint: `Continue from these answers with: refcheck request create --package 7 --first-name Zoë --last-name 'O'\\''Brien'`,
    })
  })

  test('is left out for one who has said yes beforehand, and so is what is optional', async () => {
    expect(await held(plainSchema, complete(), [], { review: false })).toEqual(complete())
    const schema = schemaOf({ visa: { number: ['string', true], note: ['string', false] } })
    const body = await held(schema, known(), [{ ask: 'Check visa: Number (required)', type: 'A1' }], {
      review: false,
    })
    expect(body.additional_information).toEqual([{ code: 'visa', fields: { number: 'A1' } }])
  })
})

test('Ctrl-C at any question ends it', async () => {
  await expect(
    held(plainSchema, nothing(plainSchema), [{ ask: 'First name (required)', leave: true }]),
  ).rejects.toMatchObject({ code: 'interrupted' })
})

test('what is wrong in the flags is said before anything is asked', async () => {
  const given = { package_id: 7, recipient: { phone: '0400', email: 'x' } }
  await expect(held(plainSchema, given, [])).rejects.toMatchObject({
    code: 'invalid_input',
    field: 'recipient.email',
    message: expect.stringMatching(
      /^2 problems: --email: "x" has no @.*; --phone: "0400" has no \+/,
    ) as string,
  })
})

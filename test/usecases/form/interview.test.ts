import { describe, expect, test } from 'vitest'

import type { PackageSchema } from '../../../src/contract/package-schema.ts'
import type { RequestBody } from '../../../src/contract/request.ts'
import { interview, type InterviewOptions } from '../../../src/usecases/form/interview.ts'
import type { ReviewRow } from '../../../src/domain/form/fields.ts'
import type { DraftBody } from '../../../src/domain/form/validate.ts'
import { type Answer, ScriptedPrompter } from '../../harness/scripted-prompter.ts'
import { plainSchema, recipientOf, sampleSchema, schemaOf } from '../../domain/form/sample-schema.ts'

const confirmAll: Answer = { ask: 'Is everything correct?', choose: 'Yes, go on' }

/** Runs an interview that starts with `given`, and expects that every answer was asked for. */
async function runInterview(
  schema: PackageSchema,
  given: DraftBody,
  answers: Answer[],
  options?: InterviewOptions,
) {
  const prompter = new ScriptedPrompter(answers)
  const body = await interview(prompter, schema, given, options)
  prompter.finish()
  return body
}

const createEmptyDraft = (schema: PackageSchema): DraftBody => ({ package_id: schema.id, recipient: {} })

/** A draft with the recipient given, so that only the check is asked for. */
const createKnownDraft = (): DraftBody => ({ package_id: 12, recipient: recipientOf() })

test('an interview asks each question, refuses invalid answers, shows a review and asks for confirmation', async () => {
  const shown: ReviewRow[][] = []
  const answers: Answer[] = [
    { ask: 'First name (required)', type: '', refused: 'is empty, but required' },
    { ask: 'First name (required)', type: 'Ann' },
    { ask: 'Last name (required)', type: 'Lee' },
    { ask: 'Email (required)', type: 'ann', refused: /^has no @/ },
    { ask: 'Email (required)', type: 'ann@example.com', help: 'Where the service writes to the person.' },
    { ask: 'Phone (required)', type: '0400', refused: /^has no \+/ },
    { ask: 'Phone (required)', type: '+61 400 000 000' },
    confirmAll,
  ]
  const body = await runInterview(plainSchema, createEmptyDraft(plainSchema), answers, {
    showPage: (rows) => (shown.push(rows), 1),
  })
  expect(body).toEqual({ package_id: 7, recipient: recipientOf() })
  expect(shown.map((rows) => rows.map(({ label, value }) => `${label}: ${value ?? ''}`))).toEqual([
    ['First name: Ann', 'Last name: Lee', 'Email: ann@example.com', 'Phone: +61400000000'],
  ])
})

test('only fields without a flag are asked for', async () => {
  const given = {
    package_id: 7,
    recipient: { first_name: 'Ann', last_name: 'Lee', phone: '+61 400 000 000' },
  }
  const body = await runInterview(plainSchema, given, [
    { ask: 'Email (required)', type: 'ann@example.com' },
    confirmAll,
  ])
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
      later: ['type_added_later', false],
    },
  })
  const questionFor = (label: string, required = true) =>
    `Check visa: ${label} (${required ? 'required' : 'optional'})`
  const body = await runInterview(schema, createKnownDraft(), [
    { ask: questionFor('Date of birth'), type: '2026-02-30', refused: 'is a day that does not exist' },
    { ask: questionFor('Date of birth'), type: '1990-04-23', help: 'Date of birth (YYYY-MM-DD).' },
    { ask: questionFor('Visits'), type: '', refused: /^is empty, but a whole/ },
    { ask: questionFor('Visits'), type: '12abc', refused: /^is not a whole number/ },
    { ask: questionFor('Visits'), type: '12', help: 'A whole number.' },
    { ask: questionFor('Score', false), type: 'high', refused: /^is not a number/ },
    {
      ask: questionFor('Score', false),
      type: '1.5',
      help: 'Points, if known. A number. Press Enter to skip it.',
    },
    { ask: questionFor('Consent'), type: '', refused: /^is neither yes nor no/ },
    { ask: questionFor('Consent'), type: 'y', help: 'Has agreed? Yes or no.' },
    { ask: questionFor('Note', false), type: '' },
    { ask: questionFor('Later', false), type: 'x' },
    confirmAll,
  ])
  expect(body.additional_information).toEqual([
    {
      code: 'visa',
      fields: { date_of_birth: '1990-04-23', visits: 12, score: 1.5, consent: true, later: 'x' },
    },
  ])
})

describe('going back', () => {
  test('leads to the previous question with its answer, and within a group to the previous part', async () => {
    const schema = schemaOf({ cv: { home: ['object', true, 'Address: street and country.'] } })
    const given = { package_id: 12, recipient: { ...recipientOf(), first_name: undefined, phone: undefined } }
    const body = await runInterview(schema, given as unknown as DraftBody, [
      { ask: 'First name (required)', type: 'Anne' },
      { ask: 'Phone (required)', back: true },
      { ask: 'First name (required)', initial: 'Anne', type: 'Anna' },
      { ask: 'Phone (required)', type: '+61400000000' },
      { ask: 'Check cv: Home, street (part 1 of 2)', type: '1 Main St' },
      { ask: 'Check cv: Home, country (part 2 of 2)', back: true },
      { ask: 'Check cv: Home, street (part 1 of 2)', initial: '1 Main St', back: true },
      { ask: 'Phone (required)', initial: '+61400000000', type: undefined },
      { ask: 'Check cv: Home, street (part 1 of 2)', type: '2 Main St' },
      { ask: 'Check cv: Home, country (part 2 of 2)', type: '' },
      confirmAll,
    ])
    expect(body).toMatchObject({
      recipient: { first_name: 'Anna' },
      additional_information: [{ fields: { home: { street: '2 Main St' } } }],
    })
  })

  test('is not offered at the first question', async () => {
    const interviewEnd = runInterview(plainSchema, createEmptyDraft(plainSchema), [
      { ask: 'First name (required)', back: true },
    ])
    await expect(interviewEnd).rejects.toThrow('takes an answer to type')
  })
})

test('an implausible value is asked about, whether given or typed, and may be used', async () => {
  const schema = schemaOf({
    id: { born: ['string', true, 'Date of birth (YYYY-MM-DD)'], home: ['object', false, 'Address'] },
  })
  const born = 'Check id: Born'
  const given = { ...createKnownDraft(), additional_information: [{ code: 'id', fields: { home: {} } }] }
  const answers: Answer[] = [
    { ask: 'Check id: Home is empty. Keep it?', confirm: false },
    { ask: `${born} (required)`, type: '2062-03-04' },
    { ask: `${born}: 2062-03-04 is in the future. Keep it?`, confirm: false },
    { ask: `${born} (required)`, initial: '2062-03-04', type: '1862-03-04' },
    { ask: `${born}: 1862-03-04 is more than 120 years ago. Keep it?`, confirm: true },
    { ask: 'Check id: Home, name and value 1 (optional)', type: '' },
    confirmAll,
  ]
  const body = await runInterview(schema, given, answers, { today: '2026-11-20' })
  expect(body.additional_information).toEqual([{ code: 'id', fields: { born: '1862-03-04' } }])
})

test('onPerson is called when the recipient is complete, before the other questions, and after a change', async () => {
  const schema = schemaOf({ visa: { number: ['string', true] } })
  const persons: string[] = []
  const drafts: number[] = []
  await runInterview(
    schema,
    createEmptyDraft(schema),
    [
      { ask: 'First name (required)', type: 'Ann' },
      { ask: 'Last name (required)', type: 'Lee' },
      { ask: 'Email (required)', type: 'ann@example.com' },
      { ask: 'Phone (required)', type: '+61400000000' },
      { ask: 'Check visa: Number (required)', type: '1' },
      { ask: 'Is everything correct?', choose: 'Change an answer' },
      { ask: 'Change which answer?', choose: /^First name/ },
      { ask: 'First name (required)', type: 'Anna' },
      confirmAll,
    ],
    {
      onPerson: async ({ recipient }) => void persons.push(`${recipient.first_name} after ${drafts.length}`),
      onAnswer: async (draft) => void drafts.push(Object.keys(draft.recipient).length),
    },
  )
  expect(persons).toEqual(['Ann after 4', 'Anna after 6'])
  expect(drafts).toEqual([1, 2, 3, 4, 4, 4])
})

describe('the review', () => {
  const createCompleteDraft = (): DraftBody => ({ package_id: 7, recipient: recipientOf() })

  test('lets any answer be changed, and shows the answers again', async () => {
    const shown: (string | undefined)[] = []
    const body = await runInterview(
      plainSchema,
      createCompleteDraft(),
      [
        {
          ask: 'Is everything correct?',
          choose: 'Change an answer',
          offered: [
            'Yes, go on',
            'Change an answer',
            'Leave for now, and keep the answers',
            'Cancel, and delete the answers',
          ],
        },
        {
          ask: 'Change which answer?',
          choose: 'First name (Ann)',
          offered: [
            'First name (Ann)',
            'Last name (Lee)',
            'Email (ann@example.com)',
            'Phone (+61400000000)',
            'Change nothing',
          ],
        },
        { ask: 'First name (required)', initial: 'Ann', type: 'Anna' },
        { ask: 'Is everything correct?', choose: 'Change an answer' },
        { ask: 'Change which answer?', choose: /^Phone/ },
        { ask: 'Phone (required)', initial: '+61400000000', type: undefined },
        confirmAll,
      ],
      { showPage: ([first]) => (shown.push(first?.value), 1) },
    )
    expect(body.recipient).toEqual(recipientOf({ first_name: 'Anna' }))
    expect(shown).toEqual(['Ann', 'Anna', 'Anna'])
  })

  test('an optional answer can be added and removed', async () => {
    const given: DraftBody = {
      ...createKnownDraft(),
      additional_information: [
        { code: 'ncc_acic', fields: { date_of_birth: '1990-04-23', years_resident: 3 } },
        {
          code: 'licence',
          fields: { licence_number: 'A', commercial: true, points: 1, issuer: { name: 'State' } },
        },
      ],
    }
    const change = (label: string): Answer[] => [
      { ask: 'Is everything correct?', choose: 'Change an answer' },
      { ask: 'Change which answer?', choose: label },
    ]
    const body = await runInterview(sampleSchema, given, [
      { ask: 'Check ncc_acic: Aliases, item 1 (optional)', type: '' },
      { ask: 'Check notes: Remark (optional)', type: '' },
      ...change('Check ncc_acic: Years resident (3)'),
      { ask: 'Check ncc_acic: Years resident (optional)', initial: '3', type: '' },
      ...change('Check licence: Issuer (name: State)'),
      { ask: 'Check licence: Issuer, name and value 1 (optional)', initial: 'name: State', type: '' },
      ...change('Check licence: Commercial (yes)'),
      { ask: 'Check licence: Commercial (required)', initial: 'yes', type: 'no' },
      ...change('Check notes: Remark (not given)'),
      { ask: 'Check notes: Remark (optional)', initial: '', type: 'Ring twice' },
      ...change('Change nothing'),
      confirmAll,
    ])
    expect(body.additional_information).toEqual([
      { code: 'ncc_acic', fields: { date_of_birth: '1990-04-23' } },
      { code: 'licence', fields: { licence_number: 'A', commercial: false, points: 1 } },
      { code: 'notes', fields: { remark: 'Ring twice' } },
    ])
  })

  test('lets the user leave', async () => {
    const interviewLeft = runInterview(plainSchema, createCompleteDraft(), [
      { ask: 'Is everything correct?', choose: 'Leave for now, and keep the answers' },
    ])
    await expect(interviewLeft).rejects.toMatchObject({
      code: 'interrupted',
      message: 'cancelled; nothing was ordered',
    })
  })

  test('deletes the answers only if the user confirms it; Enter and a no lead back to the review', async () => {
    const drop: Answer = { ask: 'Is everything correct?', choose: 'Cancel, and delete the answers' }
    const no: Answer = { ask: 'Delete all answers about Ann Lee?', confirm: false }
    const { recipient } = await runInterview(plainSchema, createCompleteDraft(), [drop, no, confirmAll])
    expect(recipient).toMatchObject({ first_name: 'Ann' })
    const cancelled = runInterview(plainSchema, createCompleteDraft(), [drop, { ...no, confirm: true }])
    await expect(cancelled).rejects.toMatchObject({
      code: 'interrupted',
      message: 'cancelled; nothing was ordered, and the answers are deleted',
    })
  })

  test('is followed by the last question, and a no to it leads back to the review', async () => {
    const lastQuestion = async ({ recipient }: RequestBody): Promise<string> =>
      `Order for ${recipient.first_name}?`
    const answers: Answer[] = [
      confirmAll,
      { ask: 'Order for Ann?', confirm: false },
      { ask: 'Is everything correct?', choose: 'Change an answer' },
      { ask: 'Change which answer?', choose: /^First name/ },
      { ask: 'First name (required)', type: 'Anna' },
      confirmAll,
      { ask: 'Order for Anna?', confirm: true },
    ]
    const body = await runInterview(plainSchema, createCompleteDraft(), answers, { lastQuestion })
    expect(body.recipient.first_name).toBe('Anna')
  })

  test('an interview that is left has a hint with the command that continues it', async () => {
    const interviewLeft = runInterview(plainSchema, createEmptyDraft(plainSchema), [
      { ask: 'First name (required)', type: 'Zoë' },
      { ask: 'Last name (required)', type: "O'Brien" },
      { ask: 'Email (required)', leave: true },
    ])
    await expect(interviewLeft).rejects.toMatchObject({
      code: 'interrupted',
      hint: `Continue from these answers with: refcheck request create --package 7 --first-name Zoë --last-name 'O'\\''Brien'`,
    })
  })

  test('is skipped with `hasReview: false`, and so are optional questions', async () => {
    expect(await runInterview(plainSchema, createCompleteDraft(), [], { hasReview: false })).toEqual(
      createCompleteDraft(),
    )
    const schema = schemaOf({ visa: { number: ['string', true], note: ['string', false] } })
    const body = await runInterview(
      schema,
      createKnownDraft(),
      [{ ask: 'Check visa: Number (required)', type: 'A1' }],
      { hasReview: false },
    )
    expect(body.additional_information).toEqual([{ code: 'visa', fields: { number: 'A1' } }])
  })
})

test('Ctrl-C at any question ends the interview', async () => {
  await expect(
    runInterview(plainSchema, createEmptyDraft(plainSchema), [{ ask: 'First name (required)', leave: true }]),
  ).rejects.toMatchObject({ code: 'interrupted' })
})

test('invalid flags are refused before the first question', async () => {
  const given = { package_id: 7, recipient: { phone: '0400', email: 'x' } }
  await expect(runInterview(plainSchema, given, [])).rejects.toMatchObject({
    code: 'invalid_input',
    field: 'recipient.email',
    message: expect.stringMatching(
      /^2 problems: --email: "x" has no @.*; --phone: "0400" has no \+/,
    ) as string,
  })
})

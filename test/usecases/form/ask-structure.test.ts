import { describe, expect, test } from 'vitest'

import type { PackageSchema } from '../../../src/contract/package-schema.ts'
import type { DraftBody } from '../../../src/domain/form/validate.ts'
import { interview } from '../../../src/usecases/form/interview.ts'
import { recipientOf, schemaOf } from '../../domain/form/sample-schema.ts'
import { type Answer, ScriptedPrompter } from '../../harness/scripted-prompter.ts'

const confirmAll: Answer = { ask: 'Is everything correct?', choose: 'Yes, go on' }
const createKnownDraft = (): DraftBody => ({ package_id: 12, recipient: recipientOf() })

/** Runs an interview that starts with `given`, and expects that every answer was asked for. */
async function runInterview(schema: PackageSchema, given: DraftBody, answers: Answer[]) {
  const prompter = new ScriptedPrompter(answers)
  const body = await interview(prompter, schema, given)
  prompter.finish()
  return body
}

describe('lists and groups', () => {
  const schema = schemaOf({
    cv: {
      jobs: ['array', true, 'Where worked'],
      home: ['object', true, 'Current address: street, state and country.'],
      extra: ['object', false, 'Anything else'],
    },
  })
  const [jobs, home, extra] = ['Check cv: Jobs', 'Check cv: Home', 'Check cv: Extra']
  const first = `${jobs}, item 1 (required)`
  const noExtra: Answer = { ask: `${extra}, name and value 1 (optional)`, type: '' }
  const street: Answer = { ask: `${home}, street (part 1 of 3)`, type: '12 High Street' }
  const otherParts: Answer[] = [
    { ask: `${home}, state (part 2 of 3)`, type: '' },
    { ask: `${home}, country (part 3 of 3)`, type: 'Australia' },
  ]
  const answerFields = async (answers: Answer[]) =>
    JSON.stringify(
      (await runInterview(schema, createKnownDraft(), [...answers, confirmAll])).additional_information?.[0]
        ?.fields,
    )

  test('a list is asked for item by item, several separated by ";", and a group by the parts of its description', async () => {
    const answers: Answer[] = [
      { ask: first, type: 'Baker', help: 'Where worked. Press Enter when there are no more.' },
      { ask: `${jobs}, item 2`, type: 'Cook;', refused: 'has an empty item beside a ;' },
      { ask: `${jobs}, item 2`, type: 'Cook; Driver', help: 'Press Enter when there are no more.' },
      { ask: `${jobs}, item 4`, type: '' },
      street,
      ...otherParts,
      noExtra,
    ]
    expect(await answerFields(answers)).toBe(
      '{"jobs":["Baker","Cook","Driver"],"home":{"street":"12 High Street","country":"Australia"}}',
    )
  })

  test('a required list may be empty if that is confirmed, a required group may not', async () => {
    const none: Answer[] = [
      { ask: first, type: '' },
      { ask: `${jobs}: none at all?`, confirm: false },
      { ask: first, type: '' },
      { ask: `${jobs}: none at all?`, confirm: true },
    ]
    const empty = 'is empty, but at least one part is required'
    const answers: Answer[] = [
      ...none,
      { ...street, type: '' },
      { ask: `${home}, state (part 2 of 3)`, type: '' },
      { ask: `${home}, country (part 3 of 3)`, type: '', refused: empty },
      { ask: `${home}, country (part 3 of 3)`, type: 'Fiji' },
      noExtra,
    ]
    expect(await answerFields(answers)).toBe('{"jobs":[],"home":{"country":"Fiji"}}')
  })

  test('without named parts, an address is not accepted as a name', async () => {
    const line = `${extra}, name and value`
    const answers: Answer[] = [
      { ask: first, type: 'Baker' },
      { ask: `${jobs}, item 2`, type: '' },
      street,
      ...otherParts,
      { ask: `${line} 1 (optional)`, type: '12 High Street', refused: /^has no name in front/ },
      { ask: `${line} 1 (optional)`, type: '12 High Street: unit 4', refused: /^has no name in front/ },
      { ask: `${line} 1 (optional)`, type: 'street: 12 High Street: unit 4' },
      { ask: `${line} 2`, type: 'street: again', refused: /already there/ },
      { ask: `${line} 2`, type: 'state:', refused: 'has no value after "state:"' },
      { ask: `${line} 2`, type: 'state: VIC' },
      { ask: `${line} 3`, type: '' },
    ]
    expect(await answerFields(answers)).toMatch(
      /"extra":\{"street":"12 High Street: unit 4","state":"VIC"\}\}$/,
    )
  })

  test('JSON at the first question is the whole answer', async () => {
    const answers: Answer[] = [
      { ask: first, type: '["Baker"', refused: /it ends before it is complete/ },
      { ask: first, type: '["Baker", 2]' },
      { ...street, type: '{"street": {"no": 1}}' },
      { ask: `${extra}, name and value 1 (optional)`, type: '{"__proto__": 2}' },
    ]
    expect(await answerFields(answers)).toBe(
      '{"jobs":["Baker",2],"home":{"street":{"no":1}},"extra":{"__proto__":2}}',
    )
  })

  test('a change starts with the previous answer, and an emptied item is removed', async () => {
    const change = 'Is everything correct?'
    const answers: Answer[] = [
      { ask: first, type: 'Baker; Cook' },
      { ask: `${jobs}, item 3`, type: '' },
      street,
      ...otherParts,
      noExtra,
      { ask: change, choose: 'Change an answer' },
      { ask: 'Change which answer?', choose: `${jobs} (Baker; Cook)` },
      { ask: first, initial: 'Baker', type: '' },
      { ask: first, initial: 'Cook', type: undefined },
      { ask: `${jobs}, item 2`, initial: '', type: '' },
      { ask: change, choose: 'Change an answer' },
      { ask: 'Change which answer?', choose: `${home} (street: 12 High Street; country: Australia)` },
      { ask: `${home}, street (part 1 of 3)`, initial: '12 High Street', type: undefined },
      { ask: `${home}, state (part 2 of 3)`, type: 'VIC' },
      { ask: `${home}, country (part 3 of 3)`, initial: 'Australia', type: '' },
    ]
    expect(await answerFields(answers)).toBe(
      '{"jobs":["Cook"],"home":{"street":"12 High Street","state":"VIC"}}',
    )
  })

  test('a list whose items have parts is asked for as groups', async () => {
    const homes = schemaOf({ cv: { homes: ['array', true, 'Every address, each with street and country.'] } })
    const label = 'Check cv: Homes'
    const body = await runInterview(homes, createKnownDraft(), [
      { ask: `${label}: is there one? (y/N)`, type: 'perhaps', refused: /neither yes nor no/ },
      { ask: `${label}: is there one? (y/N)`, type: 'y' },
      { ask: `${label}, item 1, street (part 1 of 2)`, type: '1 Main St' },
      { ask: `${label}, item 1, country (part 2 of 2)`, type: 'Fiji' },
      { ask: `${label}: another one? (y/N)`, type: '' },
      confirmAll,
    ])
    expect(body.additional_information?.[0]?.fields).toEqual({
      homes: [{ street: '1 Main St', country: 'Fiji' }],
    })
  })

  test('the back key leads through parts and items to the previous question', async () => {
    const homes = schemaOf({
      cv: {
        title: ['string', true, 'T'],
        homes: ['array', true, 'Every address, each with street and country.'],
      },
    })
    const label = 'Check cv: Homes'
    const body = await runInterview(homes, createKnownDraft(), [
      { ask: 'Check cv: Title (required)', type: 'Cook' },
      { ask: `${label}: is there one? (y/N)`, back: true },
      { ask: 'Check cv: Title (required)', initial: 'Cook', type: 'Chef' },
      { ask: `${label}: is there one? (y/N)`, type: 'yes' },
      { ask: `${label}, item 1, street (part 1 of 2)`, back: true },
      { ask: `${label}: is there one? (y/N)`, type: 'yes' },
      { ask: `${label}, item 1, street (part 1 of 2)`, type: '1 Main St' },
      { ask: `${label}, item 1, country (part 2 of 2)`, type: 'Fiji' },
      { ask: `${label}: another one? (y/N)`, back: true },
      { ask: `${label}, item 1, country (part 2 of 2)`, initial: 'Fiji', type: 'Samoa' },
      { ask: `${label}: another one? (y/N)`, type: 'no' },
      confirmAll,
    ])
    expect(body.additional_information?.[0]?.fields).toEqual({
      title: 'Chef',
      homes: [{ street: '1 Main St', country: 'Samoa' }],
    })
  })
})

import { expect, test } from 'vitest'

import { foldedName, similarity } from '../../../src/domain/submission/similarity.ts'
import { recordForFaultTable } from '../../harness/faults/fault-row.ts'

recordForFaultTable('similar', { mustNotHappen: 'pairs judged otherwise' })

type Person = [first: string, last: string, email: string, phone: string]

/** Sixty pairs. Verdicts: `same` (duplicate), `held`, `mentioned` (shared phone, is sent) and `goes` (no conflict). */
const pairs: [verdict: 'same' | 'held' | 'mentioned' | 'goes', why: string, one: Person, other: Person][] = [
  [
    'same',
    'equal in every letter',
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
  ],
  [
    'same',
    'in capitals',
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
    ['ANN', 'LOW', 'ann@x.example', '+61400000001'],
  ],
  [
    'same',
    'spaces in the phone',
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
    ['Ann', 'Low', 'ann@x.example', '+61 400 000 001'],
  ],
  [
    'same',
    'punctuation of the phone',
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
    ['Ann', 'Low', 'ann@x.example', '+61 (400) 000-001'],
  ],
  [
    'same',
    'e-mail in capitals',
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
    ['Ann', 'Low', 'Ann@X.example', '+61400000001'],
  ],
  [
    'same',
    'Unicode forms',
    ['Zoë', 'Low', 'ann@x.example', '+61400000001'],
    ['Zoe\u0308', 'Low', 'ann@x.example', '+61400000001'],
  ],
  [
    'same',
    'full-width letters',
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
    ['Ann', 'Ｌｏｗ', 'ann@x.example', '+61400000001'],
  ],
  [
    'same',
    'a space at the end',
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
    ['Ann', 'Low ', 'ann@x.example', '+61400000001'],
  ],
  [
    'same',
    'an invisible joiner',
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
    ['Ann', 'L\u200dow', 'ann@x.example', '+61400000001'],
  ],
  [
    'held',
    'a corrected phone',
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
    ['Ann', 'Low', 'ann@x.example', '+61400000002'],
  ],
  [
    'same',
    'a trunk zero in the phone',
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
    ['Ann', 'Low', 'ann@x.example', '+610400000001'],
  ],
  [
    'held',
    'Ann and Anne',
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
    ['Anne', 'Low', 'ann@x.example', '+61400000001'],
  ],
  [
    'held',
    'a curly apostrophe',
    ['Ann', 'O’Brien', 'ann@x.example', '+61400000001'],
    ['Ann', "O'Brien", 'ann@x.example', '+61400000001'],
  ],
  [
    'held',
    'an accent',
    ['Zoë', 'Low', 'ann@x.example', '+61400000001'],
    ['Zoe', 'Low', 'ann@x.example', '+61400000001'],
  ],
  [
    'held',
    'names swapped',
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
    ['Low', 'Ann', 'ann@x.example', '+61400000001'],
  ],
  [
    'held',
    'married, with a new name',
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
    ['Ann', 'High', 'ann@x.example', '+61400000001'],
  ],
  [
    'held',
    'a middle name',
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
    ['Ann Mary', 'Low', 'ann@x.example', '+61400000001'],
  ],
  [
    'held',
    'an initial',
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
    ['A.', 'Low', 'ann@x.example', '+61400000001'],
  ],
  [
    'held',
    'a nickname',
    ['Robert', 'Low', 'ann@x.example', '+61400000001'],
    ['Bob', 'Low', 'ann@x.example', '+61400000001'],
  ],
  [
    'held',
    'another person with one e-mail',
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
    ['Bob', 'High', 'ann@x.example', '+61400000009'],
  ],
  [
    'held',
    'a couple with one e-mail',
    ['Hans', 'Meier', 'meier@x.example', '+4930001'],
    ['Inge', 'Meier', 'meier@x.example', '+4930002'],
  ],
  [
    'held',
    'an agency’s e-mail',
    ['Tia', 'Roe', 'office@agency.example', '+4930003'],
    ['Max', 'Doe', 'office@agency.example', '+4930004'],
  ],
  [
    'held',
    'a hyphen in the last name',
    ['Ann', 'Low-High', 'ann@x.example', '+61400000001'],
    ['Ann.', 'Low High', 'ann@x.example', '+61400000001'],
  ],
  [
    'held',
    'a suffix',
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
    ['Ann', 'Low Jr', 'ann@x.example', '+61400000001'],
  ],
  [
    'held',
    'one letter off in the last name, same e-mail',
    ['Ann', 'Petersen', 'ann@x.example', '+61400000001'],
    ['Ann', 'Peterson', 'ann@x.example', '+61400000001'],
  ],
  [
    'held',
    'a new e-mail, the same phone',
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
    ['Ann', 'Low', 'ann.low@new.example', '+61400000001'],
  ],
  [
    'held',
    'a new e-mail and Anne',
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
    ['Anne', 'Low', 'new@x.example', '+61400000001'],
  ],
  [
    'held',
    'a new e-mail and a new last name',
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
    ['Ann', 'High', 'new@x.example', '+61400000001'],
  ],
  [
    'held',
    'a new e-mail and names swapped',
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
    ['Low', 'Ann', 'new@x.example', '+61400000001'],
  ],
  [
    'held',
    'a new e-mail and an accent',
    ['Zoë', 'Low', 'ann@x.example', '+61400000001'],
    ['Zoe', 'Low', 'new@x.example', '+61400000001'],
  ],
  [
    'held',
    'a new e-mail and a typing slip',
    ['Michael', 'Low', 'ann@x.example', '+61400000001'],
    ['Micheal', 'Low', 'new@x.example', '+61400000001'],
  ],
  [
    'held',
    'a new e-mail and one letter less',
    ['Katherine', 'Low', 'ann@x.example', '+61400000001'],
    ['Katharine', 'Low', 'new@x.example', '+61400000001'],
  ],
  [
    'held',
    'Sara and Sarah with one phone',
    ['Sara', 'Low', 'ann@x.example', '+61400000001'],
    ['Sarah', 'Low', 'new@x.example', '+61400000001'],
  ],
  [
    'held',
    'Jon and John with one phone',
    ['Jon', 'Low', 'ann@x.example', '+61400000001'],
    ['John', 'Low', 'new@x.example', '+61400000001'],
  ],
  [
    'held',
    'Tim and Tom with one phone: a third of the letters',
    ['Tim', 'Low', 'ann@x.example', '+61400000001'],
    ['Tom', 'Low', 'new@x.example', '+61400000001'],
  ],
  [
    'held',
    'a new e-mail and the phone with other punctuation',
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
    ['Ann', 'Low', 'new@x.example', '+61-400-000-001'],
  ],
  [
    'held',
    'a new e-mail and an umlaut without its dots',
    ['Jürgen', 'Low', 'ann@x.example', '+61400000001'],
    ['Jurgen', 'Low', 'new@x.example', '+61400000001'],
  ],
  [
    'mentioned',
    'a couple’s phone',
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
    ['Bernard', 'Low', 'bernard@x.example', '+61400000001'],
  ],
  [
    'mentioned',
    'an office’s phone',
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
    ['Mohammed', 'Ali', 'm.ali@x.example', '+61400000001'],
  ],
  [
    'mentioned',
    'a mother and her son',
    ['Margaret', 'Low', 'm@x.example', '+61400000001'],
    ['Liam', 'Low', 'l@x.example', '+61400000001'],
  ],
  [
    'mentioned',
    'two sisters',
    ['Priya', 'Shah', 'p@x.example', '+61400000001'],
    ['Anjali', 'Shah', 'a@x.example', '+61400000001'],
  ],
  [
    'mentioned',
    'a nickname and a new e-mail',
    ['Robert', 'Low', 'ann@x.example', '+61400000001'],
    ['Bob', 'Low', 'new@x.example', '+61400000001'],
  ],
  [
    'mentioned',
    'an initial and a new e-mail',
    ['Andrew', 'Low', 'ann@x.example', '+61400000001'],
    ['A', 'Low', 'new@x.example', '+61400000001'],
  ],
  [
    'mentioned',
    'Max and Mia with one phone',
    ['Max', 'Low', 'ann@x.example', '+61400000001'],
    ['Mia', 'Low', 'new@x.example', '+61400000001'],
  ],
  [
    'mentioned',
    'Jo and Bo with one phone',
    ['Jo', 'Low', 'ann@x.example', '+61400000001'],
    ['Bo', 'Low', 'new@x.example', '+61400000001'],
  ],
  [
    'mentioned',
    'a translated name',
    ['John', 'Low', 'ann@x.example', '+61400000001'],
    ['Juan', 'Low', 'new@x.example', '+61400000001'],
  ],
  [
    'mentioned',
    'a switchboard in another spelling',
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
    ['Svetlana', 'Ivanova', 's@x.example', '+61 400 000 001'],
  ],
  [
    'mentioned',
    'a long name shortened',
    ['Alexandra', 'Low', 'ann@x.example', '+61400000001'],
    ['Sasha', 'Low', 'new@x.example', '+61400000001'],
  ],
  [
    'goes',
    'nothing in common',
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
    ['Bob', 'High', 'bob@x.example', '+61400000002'],
  ],
  [
    'goes',
    'a namesake',
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
    ['Ann', 'Low', 'other@x.example', '+61400000002'],
  ],
  [
    'goes',
    'the same last name',
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
    ['Bob', 'Low', 'bob@x.example', '+61400000002'],
  ],
  [
    'goes',
    'the same first name',
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
    ['Ann', 'High', 'ann.high@x.example', '+61400000002'],
  ],
  [
    'goes',
    'phones one digit apart',
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
    ['Bob', 'High', 'bob@x.example', '+61400000011'],
  ],
  [
    'goes',
    'e-mails one letter apart',
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
    ['Ann', 'Low', 'anna@x.example', '+61400000002'],
  ],
  [
    'goes',
    'an e-mail with a tag',
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
    ['Ann', 'Low', 'ann+1@x.example', '+61400000002'],
  ],
  [
    'goes',
    'one domain',
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
    ['Bob', 'High', 'bob@x.example', '+61400000003'],
  ],
  [
    'goes',
    'names swapped, nothing else',
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
    ['Low', 'Ann', 'b@x.example', '+61400000002'],
  ],
  [
    'goes',
    'father and son by name alone',
    ['Ann', 'Low', 'ann@x.example', '+61400000001'],
    ['Ann', 'Low Jr', 'jr@x.example', '+61400000002'],
  ],
  [
    'goes',
    'no phone on both sides',
    ['Ann', 'Low', 'ann@x.example', ''],
    ['Bob', 'Low', 'bob@x.example', ''],
  ],
  ['goes', 'no e-mail on both sides', ['Ann', 'Low', '', '+1'], ['Bob', 'Low', '', '+2']],
]

const toPerson = ([first_name, last_name, email, phone]: Person) => ({ first_name, last_name, email, phone })

const verdicts = { same: 'same', similar: 'held', phone: 'mentioned' } as const

function findVerdict(one: Person, other: Person): string {
  const found = similarity(toPerson(one), toPerson(other))
  return found === undefined ? 'goes' : verdicts[found.kind]
}

test('there are sixty pairs', () => {
  expect(pairs).toHaveLength(60)
})

test.each(pairs)('two people are "%s": %s', (verdict, _why, one, other) => {
  expect(findVerdict(one, other)).toBe(verdict)
  expect(findVerdict(other, one)).toBe(verdict)
})

test('foldedName ignores case, accents and apostrophes', () => {
  expect(foldedName(' O’Brien-Zoë ')).toBe('obrienzoe')
})

test('similarity returns exactly the values that two people share', () => {
  const ann = { first_name: 'Ann', last_name: 'Low', email: 'ann@example.com', phone: '+61400000001' }
  const swapped = { first_name: 'Low', last_name: 'Ann', email: 'low@example.com', phone: '+61400000001' }
  expect(similarity(ann, swapped)).toEqual({ kind: 'similar', shares: ['phone', 'name'] })
  const corrected = { ...ann, phone: '+61400000002' }
  expect(similarity(ann, corrected)).toEqual({ kind: 'similar', shares: ['email', 'name'] })
  const renamed = { ...ann, first_name: 'Anne' }
  expect(similarity(ann, renamed)).toEqual({ kind: 'similar', shares: ['email', 'phone'] })
  expect(similarity(ann, { ...corrected, last_name: 'High' })).toEqual({ kind: 'similar', shares: ['email'] })
})

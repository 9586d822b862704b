import { expect, test } from 'vitest'

import { orderQuestion } from '../../../src/domain/submission/confirmation.ts'

const ann = { first_name: 'Ann', last_name: 'Lee', email: 'ann@example.com', phone: '+61400000000' }
const account = { baseUrl: 'https://api.example.com', userEmail: 'ana@example.com' }
const orderedPackage = { id: 101, name: 'Standard employment screen' }

test('the question for one order has the package, the recipient, the service and the user', () => {
  expect(orderQuestion({ package: orderedPackage, count: 1, people: [ann] }, account)).toBe(
    'Order 101 Standard employment screen for Ann Lee (ann@example.com) at api.example.com as ana@example.com?',
  )
})

test('up to five people are named, and more are counted', () => {
  const ask = (count: number): string =>
    orderQuestion(
      { package: { id: 101 }, count, people: Array.from({ length: Math.min(count, 6) }, () => ann) },
      account,
    )
  expect(ask(2)).toBe(
    'Order package 101 for 2 people (Ann Lee (ann@example.com), Ann Lee (ann@example.com)) at api.example.com as ana@example.com?',
  )
  expect(ask(5)).toMatch(/5 people \((Ann Lee \(ann@example\.com\), ){4}Ann Lee \(ann@example\.com\)\)/)
  expect(ask(6)).toBe('Order package 101 for 6 people at api.example.com as ana@example.com?')
})

test('names that are too long are left out of the question, and so are e-mails that are too long', () => {
  const createPerson = (letter: string, email: string) => ({
    ...ann,
    first_name: letter.repeat(100),
    last_name: letter.repeat(100),
    email,
  })
  const ask = (people: (typeof ann)[]): string =>
    orderQuestion({ package: { id: 101 }, count: people.length, people }, account)
  expect(
    ask([
      createPerson('a', 'a@example.com'),
      createPerson('漢', 'b@example.com'),
      createPerson('b', 'c@example.com'),
    ]),
  ).toBe(
    'Order package 101 for 3 people (a@example.com, b@example.com, c@example.com) at api.example.com as ana@example.com?',
  )
  const longEmail = `a@${'d'.repeat(60)}.${'d'.repeat(60)}.${'d'.repeat(60)}.example.com`
  expect(
    ask([createPerson('a', longEmail), createPerson('a', longEmail), createPerson('a', longEmail)]),
  ).toBe('Order package 101 for 3 people at api.example.com as ana@example.com?')
})

test('people are counted if one of them was erased', () => {
  expect(orderQuestion({ package: { id: 101 }, count: 2, people: [ann, undefined] }, account)).toContain(
    ' for 2 people at ',
  )
})

test('the question contains the rows that are left out and the path of the service, and no package if the rows have different ones', () => {
  const gateway = { ...account, baseUrl: 'https://gw.example.com/staging' }
  expect(orderQuestion({ package: undefined, count: 9, people: [ann], leftOut: 1 }, gateway)).toBe(
    'Order checks for 9 people at gw.example.com/staging as ana@example.com, and leave out 1 row?',
  )
})

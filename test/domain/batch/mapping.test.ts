import { expect, test } from 'vitest'

import { mappingFlags, merged, readMapFlags } from '../../../src/domain/batch/mapping.ts'
import { UsageError } from '../../../src/errors/kinds.ts'

const read = (flags: string[], headers: string[]) => ({ ...readMapFlags(flags, headers) })

test('a flag is split where its left side is a header of the file', () => {
  expect(read(['Given name = first_name'], [' Given name '])).toEqual({ 'Given name': 'first_name' })
  expect(read(['a=b=email'], ['a=b'])).toEqual({ 'a=b': 'email' })
  expect(read(['a=b=email'], ['a'])).toEqual({ a: 'b=email' })
})

test('a flag without =, of a header that is not there, or twice for one header is refused', () => {
  expect(() => read(['email'], ['email'])).toThrow(UsageError)
  expect(() => read(['=email'], ['email'])).toThrow(/=/)
  expect(() => read(['Mail=email'], ['E-mail', ''])).toThrow(/"Mail"/)
  expect(() => read(['Mail=email', 'Mail=phone'], ['Mail'])).toThrow(/"Mail".*twice/)
})

test('what is said now overrides what was kept', () => {
  const kept = { map: { Mail: 'email', Tel: 'phone' }, ignore: ['Notes', 'Id'] }
  expect(merged(kept, { map: { Notes: 'first_name' }, ignore: ['Tel', 'Id'] })).toEqual({
    map: { Mail: 'email', Notes: 'first_name' },
    ignore: ['Id', 'Tel'],
  })
})

test('a header named like a property of every object is kept as any other', () => {
  expect(
    Object.keys(merged({ map: {}, ignore: [] }, { map: { constructor: 'email' }, ignore: [] }).map),
  ).toEqual(['constructor'])
  expect(read(['__proto__=email'], ['__proto__'])).toEqual({ ['__proto__']: 'email' })
})

test('the flags that say the same can be pasted', () => {
  expect(mappingFlags({ map: { 'Given name': 'first_name' }, ignore: ['Notes', 'a b'] })).toBe(
    "--map 'Given name=first_name' --ignore Notes --ignore 'a b'",
  )
  expect(mappingFlags({ map: {}, ignore: [] })).toBe('')
})

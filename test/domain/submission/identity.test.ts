import { assert, boolean, constantFrom, property, string } from 'fast-check'
import { describe, expect, test } from 'vitest'

import {
  addressOf,
  orderIdentity,
  isSamePerson,
  serviceOf,
  sharedKey,
} from '../../../src/domain/submission/identity.ts'
import { order } from '../../usecases/request/answers.ts'

const { recipient } = order
const serviceUrl = 'https://service.example'
const isSame = (changes: Partial<typeof recipient>, than: Partial<typeof recipient> = {}): boolean =>
  isSamePerson({ ...recipient, ...than }, { ...recipient, ...changes })

test.each([
  ['case', { first_name: 'ANA', last_name: 'sILVA' }],
  ['case of the e-mail', { email: 'Ana.Silva@EXAMPLE.com' }],
  ['spaces around', { first_name: '  Ana ', last_name: '\tSilva\n' }],
  ['a no-break space', { last_name: 'Silva\u00a0' }],
  ['full-width letters', { first_name: 'Ａｎａ' }],
  ['a zero-width joiner', { first_name: 'A\u200dna' }],
  ['phone punctuation', { phone: '+61 (400) 000-001' }],
  ['dots in the phone', { phone: '+61.400.000.001' }],
  ['full-width digits', { phone: '＋６１４０００００００１' }],
  ['a trunk zero after the country code', { phone: '+610400000001' }],
  ['a trunk zero in brackets', { phone: '+61 (0)400 000 001' }],
])('a difference in %s does not make another person', (_what, changes) => {
  expect(isSame(changes)).toBe(true)
})

test.each([
  ['accents composed or not', 'José', 'Jose\u0301'],
  ['ß and SS', 'Weiß', 'WEISS'],
  ['ß and ẞ', 'Weiß', 'WEIẞ'],
  ['the two small sigmas', 'ΟΔΥΣΣΕΥΣ', 'οδυσσευς'],
  ['ligatures', 'Griﬃn', 'Griffin'],
  ['spaces within', 'Mary  Ann', 'Mary Ann'],
  ['İ and its small form', 'İpek', 'i\u0307pek'],
])('a difference in %s does not make another person either', (_what, one, other) => {
  expect(isSame({ first_name: one }, { first_name: other })).toBe(true)
})

test.each([
  ['first name', { first_name: 'Anna' }],
  ['accent', { first_name: 'Aná' }],
  ['last name', { last_name: 'Silveira' }],
  ['e-mail', { email: 'ana.silva+2@example.com' }],
  ['phone', { phone: '+61400000002' }],
])('a different %s makes another person', (_what, changes) => {
  expect(isSame(changes)).toBe(false)
})

test('first and last name are not joined when they are compared', () => {
  const nameInOneField = { ...recipient, first_name: 'AnaSilva', last_name: '' }
  expect(isSame(nameInOneField)).toBe(false)
})

describe('an order is the same', () => {
  const key = { account: '', baseUrl: serviceUrl, packageId: 12, recipient }
  const identity = orderIdentity(key)

  test('on the same service, however its address is written', () => {
    expect(orderIdentity({ ...key, baseUrl: 'HTTPS://Service.example:443/' })).toBe(identity)
  })

  test('but not on another service: neither a sandbox nor staging conflicts with production', () => {
    expect(orderIdentity({ ...key, baseUrl: 'http://127.0.0.1:4010' })).not.toBe(identity)
    expect(orderIdentity({ ...key, baseUrl: 'https://service.example/staging' })).not.toBe(identity)
  })

  test('for all loopback names of a port', () => {
    const identityAt = (baseUrl: string): string => orderIdentity({ ...key, baseUrl })
    expect(identityAt('http://127.0.0.1:4010')).toBe(identityAt('http://localhost:4010'))
    expect(identityAt('http://[::1]:4010')).toBe(identityAt('http://localhost:4010'))
    expect(identityAt('http://localhost:4011')).not.toBe(identityAt('http://localhost:4010'))
  })

  test('not for another package, nor for another account', () => {
    expect(orderIdentity({ ...key, packageId: 13 })).not.toBe(identity)
    expect(orderIdentity({ ...key, account: 'acme' })).not.toBe(identity)
  })
})

test('case, Unicode form and outer spaces never make another person', () => {
  const form = constantFrom('NFC', 'NFD', 'NFKC', 'NFKD')
  const rule = property(string({ unit: 'grapheme' }), form, boolean(), (text, unicodeForm, isUpperCase) => {
    const cased = isUpperCase ? text.toUpperCase() : text.toUpperCase().toLowerCase()
    expect(isSame({ last_name: text }, { last_name: ` ${cased.normalize(unicodeForm)} ` })).toBe(true)
  })
  assert(rule, { numRuns: 2_000 })
})

test('a shared value is compared as an e-mail if it has an @, and as a phone otherwise', () => {
  expect(sharedKey(' Office@Agency.example')).toBe('office@agency.example')
  expect(sharedKey('+61 (400) 000-001')).toBe('61400000001')
  expect(sharedKey('desk 1')).toBe('1')
})

test.each([
  ['one digit', '+1 0 212 555 0100', '12125550100'],
  ['two digits', '+44 (0)20 7946 0000', '442079460000'],
  ['three digits', '+353 01 234 5678', '35312345678'],
  ['three digits, beginning like a code of two', '+420 0 601 234 567', '420601234567'],
])('a trunk zero after a country code of %s is left out', (_what, typed, compared) => {
  expect(sharedKey(typed)).toBe(compared)
})

test('a zero within a number, or in one without a country code, is not a trunk zero', () => {
  expect(sharedKey('+2012 0034')).toBe('20120034')
  expect(sharedKey('0412 345 678')).toBe('0412345678')
  expect(sharedKey('6100400')).toBe('6100400')
})

test('two alternating base URLs are always two services', () => {
  const [one, other] = ['https://api.example.com/a/', 'https://api.example.com/b']
  expect([one, other, one].map(serviceOf)).toEqual([
    'https://api.example.com/a',
    'https://api.example.com/b',
    'https://api.example.com/a',
  ])
})

test('addressOf distinguishes the loopback addresses of one port, which reports are filed by', () => {
  const urls = [
    'http://127.0.0.1:4280',
    'http://[::1]:4280/',
    'http://localhost:4280',
    'http://127.0.0.1:4280/x/',
  ]
  expect(urls.map((url) => addressOf(url))).toEqual([
    'http://127.0.0.1:4280',
    'http://[::1]:4280',
    'http://localhost:4280',
    'http://127.0.0.1:4280/x',
  ])
})

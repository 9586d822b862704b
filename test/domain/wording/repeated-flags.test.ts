import { expect, test } from 'vitest'

import { commandsFor, repeatNoFlags, repeatFlagsInJson } from '../../../src/domain/wording/pasted-command.ts'

const addFlags = commandsFor(['batch', 'run', 'people.csv', '--profile', 'sydney', '--yes'])

test.each([
  ['Resume with: refcheck batch resume 3f2b', 'Resume with: refcheck batch resume 3f2b --profile sydney'],
  ['  refcheck batch rows 3f2b --state held', '  refcheck batch rows 3f2b --state held --profile sydney'],
  [
    'Log in with: refcheck auth login (or set REFCHECK_API_KEY)',
    'Log in with: refcheck auth login --profile sydney (or set REFCHECK_API_KEY)',
  ],
  [
    'Save it with: refcheck config set webhook-secret < secret.txt',
    'Save it with: refcheck config set webhook-secret --profile sydney < secret.txt',
  ],
  [
    'confirm it: refcheck batch resume 3f2b. Else choose another',
    'confirm it: refcheck batch resume 3f2b --profile sydney. Else choose another',
  ],
  [
    'printf %s x | refcheck request create --file - --yes',
    'printf %s x | refcheck request create --file - --yes --profile sydney',
  ],
  [
    `Order them with: refcheck batch run 'my people.csv' --map 'Given name=first_name'`,
    `Order them with: refcheck batch run 'my people.csv' --map 'Given name=first_name' --profile sydney`,
  ],
  ['A running "refcheck status" shows it', 'A running "refcheck status --profile sydney" shows it'],
  [
    'See: refcheck batch list\nor: refcheck quota',
    'See: refcheck batch list --profile sydney\nor: refcheck quota --profile sydney',
  ],
])('the flags are added to each command in %j', (text, expected) => {
  expect(addFlags(text)).toBe(expected)
  expect(addFlags(expected)).toBe(expected)
})

test.each([
  'Use one with: refcheck auth switch brisbane',
  'Show its help with: refcheck batch run --help',
  'See: refcheck help batches',
  'Start one with: refcheck sandbox start --login',
  'Run refcheck as that user',
  'Approve it with: refcheck approve KXRT-WMPH --profile other',
  'somerefcheck batch list',
])('%j gets no flags', (text) => {
  expect(addFlags(text)).toBe(text)
})

test('no flags are repeated if none was given, after --, for commands without profile, or if the value needs quotes', () => {
  expect(commandsFor(['batch', 'list'])).toBe(repeatNoFlags)
  expect(commandsFor(['batch', 'run', '--', '--profile', 'x'])).toBe(repeatNoFlags)
  expect(commandsFor(['batch', 'list', '--profile', 'a b'])).toBe(repeatNoFlags)
  expect(commandsFor(['auth', 'list', '--profile', 'sydney'])).toBe(repeatNoFlags)
  expect(commandsFor(['auth', 'login', '--base-url', 'http://localhost:1'])).toBe(repeatNoFlags)
  expect(commandsFor(['batch', 'list', '--profile=sydney'])('refcheck quota')).toBe(
    'refcheck quota --profile sydney',
  )
})

test('the base URL of a sandbox is repeated for the sandbox commands that call it', () => {
  const addBaseUrl = commandsFor(['sandbox', 'logs', '--base-url', 'http://127.0.0.1:4400'])
  expect(addBaseUrl('Set one with: refcheck sandbox set webhook-url URL')).toBe(
    'Set one with: refcheck sandbox set webhook-url URL --base-url http://127.0.0.1:4400',
  )
  expect(addBaseUrl('List them with: refcheck sandbox rules')).toBe('List them with: refcheck sandbox rules')
})

test('in JSON the flags are added only to commands and hints', () => {
  const row = {
    name: 'see: refcheck quota',
    command: 'refcheck quota',
    more: [{ hint: 'Run: refcheck ping' }],
  }
  expect(repeatFlagsInJson(row, addFlags)).toEqual({
    name: 'see: refcheck quota',
    command: 'refcheck quota --profile sydney',
    more: [{ hint: 'Run: refcheck ping --profile sydney' }],
  })
  expect(repeatFlagsInJson(row, repeatNoFlags)).toBe(row)
})

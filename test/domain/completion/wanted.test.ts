import { expect, test } from 'vitest'

import { commandManifest } from '../../../src/app/reference.ts'
import { pageNames } from '../../../src/cli/topic-pages.ts'
import { findProfile, findCompletionTarget } from '../../../src/domain/completion/wanted.ts'

const commands = commandManifest()

/** Returns the values that complete the line, or the kind of completion in angle brackets. */
function complete(line: string): string {
  const words = line.split(' ')
  const wanted = findCompletionTarget(commands, words.slice(0, -1), words.at(-1) ?? '', pageNames)
  if (wanted.kind === 'candidates') return wanted.candidates.map(({ value }) => value).join(' ')
  return wanted.kind === 'stored' ? `<${wanted.prefix}${wanted.source}>` : `<${wanted.kind}>`
}

test.each([
  // Commands and topics.
  ['we', 'webhook'],
  ['webhook ev', 'events'],
  ['webhook events d', 'drop'],
  ['help webhook events d', 'drop'],
  ['nothing such', ''],
  ['compl', 'completion'],
  // Flags and their values; a flag is offered once unless it may be repeated.
  ['request wait --fo', '--for'],
  ['request wait --for ', 'partial completed report'],
  ['request wait --for=p', '--for=partial'],
  ['request wait --for partial --fo', ''],
  ['request create --field a.b=1 --fie', '--field'],
  ['request wait --json --q', '--quiet'],
  ['request create --yes=', ''],
  ['request create --phone ', ''],
  // Files and folders.
  ['batch run peo', '<files>'],
  ['batch run --package 102 peo', '<files>'],
  ['batch run --results ', '<files>'],
  ['batch run --results=x', '<files>'],
  ['report sync --output ', '<folders>'],
  // Values that are read from this machine.
  ['batch run --package ', '<package>'],
  ['batch run --package=1', '<--package=package>'],
  ['schema show ', '<package>'],
  ['packages list --id ', '<package>'],
  ['ping --profile ', '<profile>'],
  ['auth switch ', '<profile>'],
  ['batch status ', '<batch>'],
  ['request list --batch ', '<batch>'],
  ['request get ', '<request>'],
  ['request get 1 ', '<request>'],
  ['store purge --request-id ', '<request>'],
  ['webhook events show ', '<event>'],
  ['webhook events replay 3 ', '<event>'],
  ['batch run --mapping ', '<mapping>'],
  ['config set ', '<setting>'],
  ['config set package ', ''],
  ['approve ', '<plan>'],
  ['reference --output-schema ', '<command>'],
  ['sandbox trigger ', '<story>'],
  ['completion f', 'fish'],
  // Values of lists, and help pages.
  ['request list --status C', 'COMPLETED CANCELLED'],
  ['request list --status=u', '--status=unknown'],
  ['sandbox logs --status PA', 'PARTIAL'],
  ['batch rows --state re', 'rejected'],
  ['batch export --state rejected,he', 'rejected,held'],
  ['help pri', 'privacy'],
  ['help sa', 'sandbox safety'],
])('the completion of "%s" is "%s"', (line, wanted) => {
  expect(complete(line)).toBe(wanted)
})

test('a command without arguments offers its flags, and the empty line offers topics and commands', () => {
  expect(complete('packages list ')).toMatch(/^--json .*--status/)
  expect(complete('')).toMatch(/\bbatch\b.*\bworker\b/)
  expect(complete('')).not.toMatch(/\bcomplete\b/)
})

test('findProfile returns the profile that the line names', () => {
  expect([
    findProfile(['ping', '--profile', 'a']),
    findProfile(['ping', '--profile=b']),
    findProfile(['ping']),
  ]).toEqual(['a', 'b', undefined])
})

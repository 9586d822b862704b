import { expect, test } from 'vitest'

import { type Session, session } from '../harness/session.ts'

const create = 'request create --package 102'
const priya = '--first-name Priya --last-name Shah --email priya@example.com --phone +61412345678'

const listPosts = ({ listCalls }: Session): string[] => listCalls().filter((call) => call.startsWith('POST'))

test('the punctuation of a phone number is removed and reported, and a text that is no number is refused', async () => {
  const here = await session()
  const person = '--first-name Priya --last-name Shah --email priya@example.com --yes'
  const phones = ['6.14E+10', '0412345678', '+1234567890123456', '+61abc', '']
  expect(await here.all(phones.map((phone) => `${create} ${person} --phone '${phone}'`)))
    .toMatchInlineSnapshot(`
      $ refcheck request create --package 102 --first-name Priya --last-name Shah --email priya@example.com --yes --phone '6.14E+10'
      2> Error: --phone: "6.14E+10" is in scientific notation: the spreadsheet has dropped digits; format the column as text and give the whole number, such as +61400000000
      2> Nothing was sent. Show the fields with: refcheck schema show 102
      exit 2

      $ refcheck request create --package 102 --first-name Priya --last-name Shah --email priya@example.com --yes --phone '0412345678'
      2> Error: --phone: "0412345678" has no +; start it with + and the country code, such as +61400000000
      2> Nothing was sent. Show the fields with: refcheck schema show 102
      exit 2

      $ refcheck request create --package 102 --first-name Priya --last-name Shah --email priya@example.com --yes --phone '+1234567890123456'
      2> Error: --phone: "+1234567890123456" has 16 digits; a phone number has at most 15
      2> Nothing was sent. Show the fields with: refcheck schema show 102
      exit 2

      $ refcheck request create --package 102 --first-name Priya --last-name Shah --email priya@example.com --yes --phone '+61abc'
      2> Error: --phone: "+61abc" holds "a"; only digits may follow the +
      2> Nothing was sent. Show the fields with: refcheck schema show 102
      exit 2

      $ refcheck request create --package 102 --first-name Priya --last-name Shah --email priya@example.com --yes --phone ''
      2> Error: --phone: "" is empty, but required
      2> Nothing was sent. Show the fields with: refcheck schema show 102
      exit 2
    `)
  expect(listPosts(here)).toEqual([])
  expect(await here.type(`${create} ${person} --phone '+61 (412) 345-678'`)).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Priya --last-name Shah --email priya@example.com --yes --phone '+61 (412) 345-678'
    2> --phone: "+61 (412) 345-678" is sent as "+61412345678"
    created  REQUEST_1                             RECEIVED
    2> Follow it with: refcheck request wait REQUEST_1
    exit 0
  `)
  expect(here.sandbox.requests()[0]?.recipient.phone).toBe('+61412345678')
})

const body = {
  package_id: 102,
  recipient: { first_name: 'Mei', last_name: 'Tanaka', email: 'mei@example.com', phone: '+819012345678' },
}

test('invalid bodies are refused before anything is sent', async () => {
  const here = await session()
  const refused = (stdin: string, flags = '--yes') => here.type(`request create --file - ${flags}`, { stdin })
  expect(await refused('{"package_id":102,')).toMatchInlineSnapshot(`
    $ refcheck request create --file - --yes <<EOF
    {"package_id":102,
    EOF
    2> Error: stdin, line 1, column 19 (byte 18): ends before it is complete
    2> Correct the file there. It has to be one JSON object, described by: refcheck schema show ID --json-schema
    exit 2
  `)
  expect(await refused('[]')).toMatchInlineSnapshot(`
    $ refcheck request create --file - --yes <<EOF
    []
    EOF
    2> Error: the body is not a JSON object
    2> It has to be one object with package_id and recipient, described by: refcheck schema show ID --json-schema
    exit 2
  `)
  expect(await refused('{"package_id":102,"package_id":101}')).toMatchInlineSnapshot(`
    $ refcheck request create --file - --yes <<EOF
    {"package_id":102,"package_id":101}
    EOF
    2> Error: stdin, line 1, column 19 (byte 18): "package_id" is given twice (first at line 1, column 2)
    2> Correct the file there. It has to be one JSON object, described by: refcheck schema show ID --json-schema
    exit 2
  `)
  expect(await refused('{"recipient":{}}')).toMatchInlineSnapshot(`
    $ refcheck request create --file - --yes <<EOF
    {"recipient":{}}
    EOF
    2> Error: package_id: is required
    2> Add it to the body.
    exit 2
  `)
  expect(await refused(JSON.stringify({ ...body, note: 'x' }))).toMatchInlineSnapshot(`
    $ refcheck request create --file - --yes <<EOF
    {"package_id":102,"recipient":{"first_name":"Mei","last_name":"Tanaka","email":"mei@example.com","phone":"+819012345678"},"note":"x"}
    EOF
    2> Error: note: is not a field of a request
    2> Nothing was sent. Show the fields with: refcheck schema show 102
    exit 2
  `)
  const number = { ...body, recipient: { ...body.recipient, phone: 61 } }
  expect(await refused(JSON.stringify(number))).toMatchInlineSnapshot(`
    $ refcheck request create --file - --yes <<EOF
    {"package_id":102,"recipient":{"first_name":"Mei","last_name":"Tanaka","email":"mei@example.com","phone":61}}
    EOF
    2> Error: recipient.phone: "61" is not a string
    2> Nothing was sent. Show the fields with: refcheck schema show 102
    exit 2
  `)
  expect(await refused(JSON.stringify(body), '--package 101 --yes')).toMatchInlineSnapshot(`
    $ refcheck request create --file - --package 101 --yes <<EOF
    {"package_id":102,"recipient":{"first_name":"Mei","last_name":"Tanaka","email":"mei@example.com","phone":"+819012345678"}}
    EOF
    2> Error: --package is 101, but the body has 102
    2> Leave out --package, or correct the body.
    exit 2
  `)
  expect(await refused('{}', '--email a@b.co')).toMatchInlineSnapshot(`
    $ refcheck request create --file - --email a@b.co <<EOF
    {}
    EOF
    2> Error: --file cannot be combined with flags for single fields
    2> Put these values into the file, or leave out --file.
    exit 2
  `)
  expect(listPosts(here)).toEqual([])
})

test('invalid flags are refused before anything is sent', async () => {
  const here = await session()
  expect(
    await here.all([
      'request create --yes',
      'request create --package 105 --yes',
      'request create --package 106 --yes',
      'request create --package 999 --yes',
      `${create} --first-name A --yes`,
      `${create} ${priya} --field nope.x=1 --yes`,
      `${create} ${priya}`,
    ]),
  ).toMatchInlineSnapshot(`
    $ refcheck request create --yes
    2> Error: --package is required
    2> List the packages with: refcheck packages list --status active
    exit 2

    $ refcheck request create --package 105 --yes
    2> Error: package 105 (Graduate screen (paused)) is INACTIVE; only ACTIVE packages can be ordered
    2> Nothing was sent. Look for a successor with: refcheck packages list --status active
    exit 2

    $ refcheck request create --package 106 --yes
    2> Error: package 106 (Volunteer screen (withdrawn)) is DISABLED; only ACTIVE packages can be ordered
    2> Nothing was sent. Look for a successor with: refcheck packages list --status active
    exit 2

    $ refcheck request create --package 999 --yes
    2> Error: package 999 was not found for this user
    2> List the packages with: refcheck packages list
    exit 5

    $ refcheck request create --package 102 --first-name A --yes
    2> Error: 3 problems
    2>   --last-name is required
    2>   --email is required
    2>   --phone is required
    2> Nothing was sent. Show the fields with: refcheck schema show 102
    exit 2

    $ refcheck request create --package 102 --first-name Priya --last-name Shah --email priya@example.com --phone +61412345678 --field nope.x=1 --yes
    2> Error: --field: "nope" is not a check code of this package; it takes none
    2> Nothing was sent. Show the fields with: refcheck schema show 102
    exit 2

    $ refcheck request create --package 102 --first-name Priya --last-name Shah --email priya@example.com --phone +61412345678
    2> Error: ordering needs a confirmation, and there is no terminal to ask on
    2> Nothing was sent. Add --yes to order without confirmation, or --dry-run to see what would be sent.
    exit 2
  `)
  expect(listPosts(here)).toEqual([])
})

test('without credits, trial or subscription the exit code is 4, and the hint names the way to fix it', async () => {
  const { type, sandbox, listOrderedEmails } = await session()
  sandbox.setCredits(0)
  expect(await type(`${create} ${priya} --yes`)).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Priya --last-name Shah --email priya@example.com --phone +61412345678 --yes
    2> Error: organisation has no credits remaining
    2> Nothing was ordered. The organisation has to buy credits.
    exit 4
  `)
  sandbox.setCredits(null)
  sandbox.makePermanentChange('expire-trial')
  expect(await type(`${create} ${priya} --yes`)).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Priya --last-name Shah --email priya@example.com --phone +61412345678 --yes
    2> Error: organisation trial has expired
    2> Nothing was ordered. The organisation’s trial is over; an Owner can subscribe.
    exit 4
  `)
  sandbox.makePermanentChange('deactivate-subscription')
  expect(await type(`${create} ${priya} --yes`)).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Priya --last-name Shah --email priya@example.com --phone +61412345678 --yes
    2> Error: organisation subscription is not active
    2> Nothing was ordered. An Owner of the organisation has to renew the subscription.
    exit 4
  `)
  expect(listOrderedEmails()).toEqual([])
})

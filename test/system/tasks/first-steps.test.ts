import { expect, test } from 'vitest'

import { startTerminal } from '../../harness/terminal-session.ts'
import { keys } from '../../harness/terminal.ts'

test('see what I can order', async () => {
  const terminal = await startTerminal()
  await terminal.type('refcheck packages list --status active')
  expect(terminal.transcript()).toMatchInlineSnapshot(`
    $ refcheck packages list --status active
    ID   NAME                   STATUS  REFERENCE SURVEY       BACKGROUND CHECKS
    101  Standard employment    ACTIVE  Professional           National police
         screen                         reference survey (2    check, Credit history
                                        referees)              check
    102  Identity check only    ACTIVE  -                      Identity check
    103  Two references         ACTIVE  2 referees             -
    104  Executive screen       ACTIVE  Executive reference    National police
                                        survey (3 referees)    check, Credit history
                                                               check, Identity check
    exit 0
    $
  `)
})

test('see what a package needs', async () => {
  const terminal = await startTerminal()
  await terminal.type('refcheck schema show 101')
  expect(terminal.transcript()).toMatchInlineSnapshot(`
    $ refcheck schema show 101
    Recipient
    FIELD         TYPE    REQUIRED  DESCRIPTION
    --first-name  string  required  -
    --last-name   string  required  -
    --email       string  required  -
    --phone       string  required  + and country code, such as +61400000000

    Professional reference survey (reference)
    FIELD                                    TYPE    REQUIRED  DESCRIPTION
    --field reference.position_title         string  required  Title of the position
                                                               the recipient has
                                                               applied for.
    --field reference.referee_relationships  array   optional  Whom the referees
                                                               should be, for
                                                               example "direct
                                                               manager" and "peer".

    National police check (ncc_acic)
    FIELD                                 TYPE     REQUIRED  DESCRIPTION
    --field ncc_acic.date_of_birth        string   required  Date of birth as an ISO
                                                             date, for example
                                                             1990-04-30.
    --field ncc_acic.licence_number       string   optional  Driver licence number,
                                                             without spaces.
    --field ncc_acic.is_volunteer         boolean  required  Whether the check is
                                                             for unpaid work;
                                                             volunteers pay a
                                                             reduced fee.
    --field ncc_acic.previous_names       array    required  Every other name the
                                                             recipient has used; an
                                                             empty list if none.
    --field ncc_acic.residential_address  object   required  Current address:
                                                             street, suburb, state,
                                                             postcode and country.

    Credit history check (icrc)
    FIELD                          TYPE     REQUIRED  DESCRIPTION
    --field icrc.years_of_history  integer  required  How many years to look back, 1
                                                      to 7.
    --field icrc.annual_income     number   required  Declared gross income a year,
                                                      in dollars and cents.
    exit 0
    $
  `)
})

test('log in for the first time', async () => {
  const terminal = await startTerminal({ isLoggedOut: true })
  await terminal.type('refcheck packages list')
  await terminal.type('refcheck auth login', 'Base URL')
  await terminal.press(`${terminal.url}\r`, 'API key')
  await terminal.press(`${'x'.repeat(32)}\r`, 'User e-mail')
  await terminal.press('olive.owner@example.com\r', /invalid API key[^]*API key/)
  await terminal.press(`${terminal.sandbox.credentials.apiKey}\r`)
  expect(terminal.transcript()).toMatchInlineSnapshot(`
    $ refcheck packages list
    2> Error: you are not logged in
    2> Log in with: refcheck auth login
    2> In a script, set REFCHECK_API_KEY, REFCHECK_USER_EMAIL and REFCHECK_BASE_URL
    2> instead.
    exit 3
    $ refcheck auth login
    2> ✔ Base URL of the service http://127.0.0.1:PORT
    2> ✔ API key (not shown) ********************************
    2> ✔ User e-mail olive.owner@example.com
    2> Warning: invalid API key
    2> ✔ API key (not shown) ********************************
    2> No system keychain is available.
    Logged in to http://127.0.0.1:PORT as Olive Owner (olive.owner@example.com,
    owner).
    Profile "default" is now in use. Its key is in a private file, readable only by
    you: HOME/config/credentials.json
    2> Next, see what can be ordered: refcheck packages list --status active
    exit 0
    $
  `)
})

test('renew a key', async () => {
  const terminal = await startTerminal({ isLoggedOut: true })
  const { apiKey } = terminal.sandbox.credentials
  terminal.write('key.txt', apiKey)
  await terminal.type(
    `refcheck auth login --base-url ${terminal.url} --email olive.owner@example.com --with-key < key.txt`,
  )
  terminal.transcript()
  await terminal.type('refcheck auth login', 'What do you want to do?')
  expect(terminal.screen()).toMatchInlineSnapshot(`
    $ refcheck auth login --base-url http://127.0.0.1:PORT --email olive.owner@exam
    ple.com --with-key < key.txt
    2> No system keychain is available.
    Logged in to http://127.0.0.1:PORT as Olive Owner (olive.owner@example.com,
    owner).
    Profile "default" is now in use. Its key is in a private file, readable only by
    you: HOME/config/credentials.json
    2> Next, see what can be ordered: refcheck packages list --status active
    exit 0
    $ refcheck auth login
    2> ? What do you want to do?
    2> ❯ Renew the key of profile "default"
    2>   Log in to another service or as another user

    2> olive.owner@example.com at http://127.0.0.1:PORT
    2> ↑↓ navigate • ⏎ select
  `)
  await terminal.press(keys.enter, 'API key')
  await terminal.press(`${apiKey}\r`)
  expect(terminal.transcript()).toMatchInlineSnapshot(`
    $ refcheck auth login
    2> ✔ What do you want to do? Renew the key of profile "default"
    2> ✔ API key (not shown) ********************************
    2> No system keychain is available.
    Logged in to http://127.0.0.1:PORT as Olive Owner (olive.owner@example.com,
    owner).
    Profile "default" is now in use. Its key is in a private file, readable only by
    you: HOME/config/credentials.json
    2> Next, see what can be ordered: refcheck packages list --status active
    exit 0
    $
  `)
})

test('use another profile', async () => {
  const terminal = await startTerminal({ isLoggedOut: true })
  terminal.write('key.txt', terminal.sandbox.credentials.apiKey)
  const login = `refcheck auth login --base-url ${terminal.url} --with-key < key.txt`
  await terminal.type(`${login} --email olive.owner@example.com --profile main`)
  await terminal.type(`${login} --email max.member@example.com --profile max`)
  terminal.transcript()
  await terminal.type('refcheck auth switch', 'Which profile?')
  expect(terminal.screen()).toMatchInlineSnapshot(`
    2> No system keychain is available.
    Logged in to http://127.0.0.1:PORT as Olive Owner (olive.owner@example.com,
    owner).
    Profile "main" is now in use. Its key is in a private file, readable only by
    you: HOME/config/credentials.json
    2> Next, see what can be ordered:
    2>   refcheck packages list --status active --profile main
    exit 0
    $ refcheck auth login --base-url http://127.0.0.1:PORT --with-key < key.txt --e
    mail max.member@example.com --profile max
    2> No system keychain is available.
    Logged in to http://127.0.0.1:PORT as Max Member (max.member@example.com,
    member).
    Profile "max" is now in use. Its key is in a private file, readable only by you:
    HOME/config/credentials.json
    2> Next, see what can be ordered:
    2>   refcheck packages list --status active --profile max
    exit 0
    $ refcheck auth switch
    2> ? Which profile?
    2>   main: olive.owner@example.com at http://127.0.0.1:PORT
    2> ❯ max (in use): max.member@example.com at http://127.0.0.1:PORT

    2> ↑↓ navigate • ⏎ select
  `)
  await terminal.press(`${keys.up}\r`)
  expect(terminal.transcript()).toMatchInlineSnapshot(`
    $ refcheck auth switch
    2> ✔ Which profile? main: olive.owner@example.com at http://127.0.0.1:PORT
    Profile "main" is now in use.
    exit 0
    $
  `)
})

test('set up completion', async () => {
  const terminal = await startTerminal()
  await terminal.type('refcheck completion bash > completion.bash && . ./completion.bash')
  await terminal.press('refcheck batch run --on-inv\tsk\t', '--on-invalid skip')
  expect(terminal.screen()).toMatchInlineSnapshot(`
    $ refcheck completion bash > completion.bash && . ./completion.bash
    exit 0
    $ refcheck batch run --on-invalid skip
  `)
})

test('see the quota', async () => {
  const terminal = await startTerminal({ filters: [[/free again in \d+ \w+/g, 'free again in TIME']] })
  await terminal.type('refcheck packages list')
  terminal.transcript()
  await terminal.type('refcheck quota')
  expect(terminal.transcript()).toMatchInlineSnapshot(`
    $ refcheck quota
    Calls to the service, without those of other programs that use the same key
    60 in 60 s   [#-------------------]  1 used,  59 left, free again in TIME
    1000 in 1 h  [#-------------------]  1 used, 999 left, free again in TIME
    exit 0
    $
  `)
})

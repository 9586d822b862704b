import { expect, test } from 'vitest'

import { startTerminal } from '../../harness/terminal-session.ts'
import { keys } from '../../harness/terminal.ts'

const person = '--first-name Priya --last-name Shah --email priya@example.com --phone +61412345678'
const order = `refcheck request create --package 102 ${person}`

test('order checks on one person, step by step', async () => {
  const terminal = await startTerminal()
  await terminal.type('refcheck request create --package 101', 'First name')
  await terminal.press('Zoë\r', 'Last name')
  await terminal.press("O'Brien-Smith\r", 'Email')
  await terminal.press('zoe@example.com\r', 'Phone')
  await terminal.press('+61 412 345 678\r', 'Position title')
  await terminal.press('Nurse\r', 'Referee relationships, item 1')
  await terminal.press('direct manager; peer\r', 'item 3')
  await terminal.press('\r', 'Date of birth')
  await terminal.press('2062-04-30\r', 'is in the future. Keep')
  expect(terminal.screen()).toMatchInlineSnapshot(`
    $ refcheck request create --package 101
    2> ✔ First name (required) Zoë
    2> ✔ Last name (required) O'Brien-Smith
    2> ✔ Email (required) zoe@example.com
    2> ✔ Phone (required) +61 412 345 678
    2> ✔ Professional reference survey: Position title (required) Nurse
    2> ✔ Professional reference survey: Referee relationships, item 1 (optional)
    2>   direct manager; peer
    2> ✔ Professional reference survey: Referee relationships, item 3
    2> ✔ National police check: Date of birth (required) 2062-04-30
    2> ? National police check: Date of birth: 2062-04-30 is in the future. Keep
    2> it? (y/N)
  `)
  await terminal.press('\r', /Date of birth \(required\) 2062/)
  await terminal.press(`${keys.ctrlU}1990-04-30\r`, 'Licence number')
  await terminal.press('\r', 'Is volunteer')
  await terminal.press('no\r', 'Previous names, item 1')
  await terminal.press('\r', 'none at all?')
  await terminal.press('y\r', 'street (part 1 of 5)')
  await terminal.press('12 High Street\r', 'suburb (part 2 of 5)')
  expect(terminal.screen()).toMatchInlineSnapshot(`
    $ refcheck request create --package 101
    2> ✔ First name (required) Zoë
    2> ✔ Last name (required) O'Brien-Smith
    2> ✔ Email (required) zoe@example.com
    2> ✔ Phone (required) +61 412 345 678
    2> ✔ Professional reference survey: Position title (required) Nurse
    2> ✔ Professional reference survey: Referee relationships, item 1 (optional)
    2>   direct manager; peer
    2> ✔ Professional reference survey: Referee relationships, item 3
    2> ✔ National police check: Date of birth (required) 2062-04-30
    2> ✔ National police check: Date of birth: 2062-04-30 is in the future. Keep
    2> it? No
    2> ✔ National police check: Date of birth (required) 1990-04-30
    2> ✔ National police check: Licence number (optional)
    2> ✔ National police check: Is volunteer (required) no
    2> ✔ National police check: Previous names, item 1 (required)
    2> ✔ National police check: Previous names: none at all? Yes
    2> ✔ National police check: Residential address, street (part 1 of 5)
    2>   12 High Street
    2> ? National police check: Residential address, suburb (part 2 of 5)
    2> Press Enter to leave this part out. Up arrow: back.
  `)
  await terminal.press('Carlton\r', 'state')
  await terminal.press('VIC\r', 'postcode')
  await terminal.press('3053\r', 'country')
  await terminal.press('Australia\r', 'Years of history')
  await terminal.press('5\r', 'Annual income')
  await terminal.press('85000.5\r', 'Is everything correct so far?')
  expect(terminal.screen()).toMatchInlineSnapshot(`
    2> ✔ National police check: Residential address, state (part 3 of 5) VIC
    2> ✔ National police check: Residential address, postcode (part 4 of 5) 3053
    2> ✔ National police check: Residential address, country (part 5 of 5) Australia
    2> ✔ Credit history check: Years of history (required) 5
    2> ✔ Credit history check: Annual income (required) 85000.5

    2> Package 101: Standard employment screen
    2> For Zoë O'Brien-Smith, zoe@example.com, +61412345678

    2> FOR                            FIELD                  ANSWER
    2> Professional reference survey  Position title         Nurse
    2> Professional reference survey  Referee relationships  direct manager; peer
    2> National police check          Date of birth          1990-04-30
    2> National police check          Licence number         not given
    2> National police check          Is volunteer           no
    2> National police check          Previous names         none

    2> ? Is everything correct so far?
    2> ❯ Show the next page (1 of 2 shown)
    2>   Change an answer
    2>   Leave for now, and keep the answers
    2>   Cancel, and delete the answers

    2> ↑↓ navigate • ⏎ select
  `)
  await terminal.press('\r', 'Is everything correct?')
  expect(terminal.screen()).toMatchInlineSnapshot(`
    2> National police check          Licence number         not given
    2> National police check          Is volunteer           no
    2> National police check          Previous names         none

    2> ✔ Is everything correct so far? Show the next page (1 of 2 shown)

    2> Package 101: Standard employment screen
    2> For Zoë O'Brien-Smith, zoe@example.com, +61412345678

    2> FOR                    FIELD                ANSWER
    2> National police check  Residential address  street: 12 High Street; suburb:
    2>                                             Carlton; state: VIC; postcode: 3053;
    2>                                             country: Australia
    2> Credit history check   Years of history     5
    2> Credit history check   Annual income        85000.5

    2> ? Is everything correct?
    2> ❯ Yes, go on
    2>   Show the first page again
    2>   Change an answer
    2>   Leave for now, and keep the answers
    2>   Cancel, and delete the answers

    2> ↑↓ navigate • ⏎ select
  `)
  await terminal.press('\r', '(y/N)')
  expect(terminal.screen()).toMatchInlineSnapshot(`
    2> National police check          Licence number         not given
    2> National police check          Is volunteer           no
    2> National police check          Previous names         none

    2> ✔ Is everything correct so far? Show the next page (1 of 2 shown)

    2> Package 101: Standard employment screen
    2> For Zoë O'Brien-Smith, zoe@example.com, +61412345678

    2> FOR                    FIELD                ANSWER
    2> National police check  Residential address  street: 12 High Street; suburb:
    2>                                             Carlton; state: VIC; postcode: 3053;
    2>                                             country: Australia
    2> Credit history check   Years of history     5
    2> Credit history check   Annual income        85000.5

    2> ✔ Is everything correct? Yes, go on
    2> ? Order 101 Standard employment screen for Zoë O'Brien-Smith (zoe@example.com)
    2> at 127.0.0.1:PORT as olive.owner@example.com? (y/N)
  `)
  await terminal.press('y\r')
  expect(terminal.screen()).toMatchInlineSnapshot(`
    2> FOR                    FIELD                ANSWER
    2> National police check  Residential address  street: 12 High Street; suburb:
    2>                                             Carlton; state: VIC; postcode: 3053;
    2>                                             country: Australia
    2> Credit history check   Years of history     5
    2> Credit history check   Annual income        85000.5

    2> ✔ Is everything correct? Yes, go on
    2> ✔ Order 101 Standard employment screen for Zoë O'Brien-Smith (zoe@example.com)
    2> at 127.0.0.1:PORT as olive.owner@example.com? Yes
    created  REQUEST_1                             RECEIVED
    2> The same order as one command:
    2>   refcheck request create --package 101 --first-name Zoë \\
    2>     --last-name 'O'\\''Brien-Smith' --email zoe@example.com \\
    2>     --phone +61412345678 --field reference.position_title=Nurse \\
    2>     --field 'reference.referee_relationships=["direct manager","peer"]' \\
    2>     --field ncc_acic.date_of_birth=1990-04-30 \\
    2>     --field ncc_acic.is_volunteer=false --field 'ncc_acic.previous_names=[]' \\
    2>     --field 'ncc_acic.residential_address={"street":"12 High Street","suburb":"C
    2> arlton","state":"VIC","postcode":"3053","country":"Australia"}' \\
    2>     --field icrc.years_of_history=5 --field icrc.annual_income=85000.5 --yes
    2> Follow it with: refcheck request wait REQUEST_1
    exit 0
    $
  `)
  expect(terminal.sandbox.requests()).toMatchObject([{ package_id: 101, recipient: { first_name: 'Zoë' } }])
})

test('correct an answer before ordering', async () => {
  const terminal = await startTerminal()
  await terminal.type('refcheck request create --package 102', 'First name')
  await terminal.press('Pria\r', 'Last name')
  await terminal.press(keys.up, /First name \(required\) Pria/)
  await terminal.press(`${keys.ctrlU}Priya\r`, /Last name \(required\)/)
  await terminal.press('Shah\r', 'Email')
  await terminal.press('priya@example.com\r', 'Phone')
  await terminal.press('+61412345678\r', 'Is everything correct?')
  await terminal.press(`${keys.down}\r`, 'Change which answer?')
  expect(terminal.screen()).toMatchInlineSnapshot(`
    2> ✔ First name (required) Pria
    2> ✔ Last name (required) (back)
    2> ✔ First name (required) Priya
    2> ✔ Last name (required) Shah
    2> ✔ Email (required) priya@example.com
    2> ✔ Phone (required) +61412345678

    2> Package 102: Identity check only

    2> FOR        FIELD       ANSWER
    2> Recipient  First name  Priya
    2> Recipient  Last name   Shah
    2> Recipient  Email       priya@example.com
    2> Recipient  Phone       +61412345678

    2> ✔ Is everything correct? Change an answer
    2> ? Change which answer?
    2> ❯ First name (Priya)
    2>   Last name (Shah)
    2>   Email (priya@example.com)
    2>   Phone (+61412345678)
    2>   Change nothing

    2> ↑↓ navigate • ⏎ select
  `)
  await terminal.press('Last', /Change which answer\? Last/)
  await terminal.press('\r', /\? Last name \(required\) Shah/)
  await terminal.press(`${keys.ctrlU}Rao\r`, /Last name +Rao[^]*Is everything correct\?/)
  await terminal.press('\r', '(y/N)')
  await terminal.press('y\r')
  expect(terminal.screen()).toMatchInlineSnapshot(`
    2> Recipient  Phone       +61412345678

    2> ✔ Is everything correct? Change an answer
    2> ✔ Change which answer? Last name (Shah)
    2> ✔ Last name (required) Rao

    2> Package 102: Identity check only

    2> FOR        FIELD       ANSWER
    2> Recipient  First name  Priya
    2> Recipient  Last name   Rao
    2> Recipient  Email       priya@example.com
    2> Recipient  Phone       +61412345678

    2> ✔ Is everything correct? Yes, go on
    2> ✔ Order 102 Identity check only for Priya Rao (priya@example.com) at
    2> 127.0.0.1:PORT as olive.owner@example.com? Yes
    created  REQUEST_1                             RECEIVED
    2> The same order as one command:
    2>   refcheck request create --package 102 --first-name Priya --last-name Rao \\
    2>     --email priya@example.com --phone +61412345678 --yes
    2> Follow it with: refcheck request wait REQUEST_1
    exit 0
    $
  `)
})

test('cancel an order in the middle, and continue it later', async () => {
  const terminal = await startTerminal()
  await terminal.type('refcheck request create --package 102', 'First name')
  await terminal.press('Priya\r', 'Last name')
  await terminal.press('Shah\r', 'Email')
  await terminal.press(keys.ctrlC)
  expect(terminal.transcript()).toMatchInlineSnapshot(`
    $ refcheck request create --package 102
    2> ✔ First name (required) Priya
    2> ✔ Last name (required) Shah
    2> ? Email (required)
    2> Where the service writes to the person. Up arrow: back.
    2> Cancelled; nothing was done
    2> Your answers are kept. Continue with: refcheck request create --resume
    exit 130
    $
  `)
  await terminal.type('refcheck request create --resume', 'Email')
  await terminal.press('priya@example.com\r', 'Phone')
  await terminal.press('+61412345678\r', 'Is everything correct?')
  await terminal.press('\r', '(y/N)')
  await terminal.press('y\r')
  expect(terminal.transcript()).toMatchInlineSnapshot(`
    $ refcheck request create --resume
    2> Continuing the order of Priya Shah, 102 Identity check only, 2 answers,
    2> YYYY-MM-DD HH:MM +00:00
    2> ✔ Email (required) priya@example.com
    2> ✔ Phone (required) +61412345678

    2> Package 102: Identity check only

    2> FOR        FIELD       ANSWER
    2> Recipient  First name  Priya
    2> Recipient  Last name   Shah
    2> Recipient  Email       priya@example.com
    2> Recipient  Phone       +61412345678

    2> ✔ Is everything correct? Yes, go on
    2> ✔ Order 102 Identity check only for Priya Shah (priya@example.com) at
    2> 127.0.0.1:PORT as olive.owner@example.com? Yes
    created  REQUEST_1                             RECEIVED
    2> The same order as one command:
    2>   refcheck request create --package 102 --first-name Priya --last-name Shah \\
    2>     --email priya@example.com --phone +61412345678 --yes
    2> Follow it with: refcheck request wait REQUEST_1
    exit 0
    $
  `)
})

test('order nothing by an accidental Enter', async () => {
  const terminal = await startTerminal()
  await terminal.type(order, 'Is everything correct?')
  // Three keys at the same time: the last question is not shown yet when they are pressed.
  await terminal.press('\r\r\r', '(y/N)')
  await terminal.press('\r', /Is everything correct\?/)
  await terminal.press(keys.ctrlC)
  expect(terminal.transcript()).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Priya --last-name Shah --em
    ail priya@example.com --phone +61412345678

    2> Package 102: Identity check only

    2> FOR        FIELD       ANSWER
    2> Recipient  First name  Priya
    2> Recipient  Last name   Shah
    2> Recipient  Email       priya@example.com
    2> Recipient  Phone       +61412345678

    2> ✔ Is everything correct? Yes, go on
    2> ✔ Order 102 Identity check only for Priya Shah (priya@example.com) at
    2> 127.0.0.1:PORT as olive.owner@example.com? No

    2> Package 102: Identity check only

    2> FOR        FIELD       ANSWER
    2> Recipient  First name  Priya
    2> Recipient  Last name   Shah
    2> Recipient  Email       priya@example.com
    2> Recipient  Phone       +61412345678

    2> ? Is everything correct?
    2> ❯ Yes, go on
    2>   Change an answer
    2>   Leave for now, and keep the answers
    2>   Cancel, and delete the answers

    2> ↑↓ navigate • ⏎ select
    2> Cancelled; nothing was done
    2> Continue from these answers with:
    2>   refcheck request create --package 102 --first-name Priya --last-name Shah \\
    2>     --email priya@example.com --phone +61412345678
    exit 130
    $
  `)
  expect(terminal.sandbox.requests()).toEqual([])
})

test('see that a person was ordered before', async () => {
  const terminal = await startTerminal()
  await terminal.type(`${order} --yes`)
  terminal.transcript()
  await terminal.type('refcheck request create --package 102', 'First name')
  await terminal.press('Priya\r', 'Last name')
  await terminal.press('Shah\r', 'Email')
  await terminal.press('priya@example.com\r', 'Phone')
  await terminal.press('+61412345678\r', 'Leave')
  await terminal.press(`${keys.down}\r`)
  expect(terminal.transcript()).toMatchInlineSnapshot(`
    $ refcheck request create --package 102
    2> ✔ First name (required) Priya
    2> ✔ Last name (required) Shah
    2> ✔ Email (required) priya@example.com
    2> ✔ Phone (required) +61412345678
    2> ✔ Priya Shah: package 102 was already ordered for "priya@example.com": request
    2> REQUEST_1, on YYYY-MM-DD HH:MM +00:00, last seen
    2> RECEIVED when it was ordered. Leave
    2> To order it once more, add --allow-duplicate. Show the request with:
    2>   refcheck request get REQUEST_1
    2> Your answers are kept. Continue with: refcheck request create --resume
    exit 2
    $
  `)
})

test('order by one command line', async () => {
  const terminal = await startTerminal()
  await terminal.type(`${order} --yes`)
  expect(terminal.transcript()).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Priya --last-name Shah --em
    ail priya@example.com --phone +61412345678 --yes
    created  REQUEST_1                             RECEIVED
    2> Follow it with: refcheck request wait REQUEST_1
    exit 0
    $
  `)
})

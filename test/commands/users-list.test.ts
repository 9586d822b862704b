import { expect, test } from 'vitest'

import { session } from '../harness/session.ts'

test('users list prints all users, or those with a role, a team, or both', async () => {
  const { type } = await session()
  expect(await type('users list')).toMatchInlineSnapshot(`
    $ refcheck users list
    EMAIL                         FIRST NAME  LAST NAME    ROLE     TEAMS               JOB TITLE
    olive.owner@example.com       Olive       Owner        owner    Hiring; Compliance  Head of People
    ada.admin@example.com         Ada         Admin        admin    Compliance          Screening Manager
    sam.support@example.com       Sam         Support      support  -                   -
    max.member@example.com        Max         Member       member   Hiring              Recruiter
    cora.contributor@example.com  Cora        Contributor  member   Compliance          Referee Coordinator
    exit 0
  `)
  expect(await type('users list --role OWNER --json')).toMatchInlineSnapshot(`
    $ refcheck users list --role OWNER --json
    [
      {
        "id": "ID_1",
        "first_name": "Olive",
        "last_name": "Owner",
        "email": "olive.owner@example.com",
        "role": "owner",
        "teams": [
          {
            "id": "ID_2",
            "name": "Hiring"
          },
          {
            "id": "ID_3",
            "name": "Compliance"
          }
        ],
        "job_title": "Head of People"
      }
    ]
    exit 0
  `)
  expect(await type('users list --team hiring --csv --columns email,role')).toMatchInlineSnapshot(`
    $ refcheck users list --team hiring --csv --columns email,role
    email,role
    olive.owner@example.com,owner
    max.member@example.com,member
    exit 0
  `)
  expect(await type('users list --role member --team Hiring --columns email,role,teams'))
    .toMatchInlineSnapshot(`
    $ refcheck users list --role member --team Hiring --columns email,role,teams
    EMAIL                   ROLE    TEAMS
    max.member@example.com  member  Hiring
    exit 0
  `)
  expect(await type('users list --role nobody')).toMatchInlineSnapshot(`
    $ refcheck users list --role nobody
    No users match.
    Roles: admin, member, owner, support
    Teams: Compliance, Hiring
    exit 0
  `)
})

test('for a user who is not active, the error says whose e-mail is required and which command lists them', async () => {
  const { type } = await session()
  const env = { REFCHECK_USER_EMAIL: 'ivy.inactive@example.com' }
  expect(await type('users list', { env })).toMatchInlineSnapshot(`
    $ REFCHECK_USER_EMAIL=ivy.inactive@example.com refcheck users list
    2> Error: user is not an active member of the organisation
    2> The user e-mail must belong to an active user of the key’s organisation. An active user can list them with: refcheck users list
    exit 4
  `)
})

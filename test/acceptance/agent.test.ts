import { spawnSync } from 'node:child_process'

import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, onTestFinished, test } from 'vitest'

import { answerOf } from '../harness/agent.ts'
import { program } from '../harness/program.ts'
import { openTerminal } from '../harness/terminal.ts'
import { world } from '../harness/world.ts'

const people = ['Priya', 'Mei', 'Tom'].map((first, at) => ({
  recipient: {
    first_name: first,
    last_name: 'Example',
    email: `${first.toLowerCase()}@example.com`,
    phone: `+6141234560${at}`,
  },
}))

/** Starts `refcheck mcp` and connects an MCP client to it over stdio. */
async function connectClient(env: Record<string, string>): Promise<Client> {
  const client = new Client({ name: 'acceptance', version: '1.0.0' })
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [program, 'mcp'],
      env: { PATH: process.env['PATH'] ?? '', ...env },
      stderr: 'ignore',
    }),
  )
  onTestFinished(() => client.close())
  return client
}

test('an agent plans three people over stdio; only a person at a terminal of their own orders them, once', async () => {
  const { env, sandbox } = await world({ seed: 'agent' })
  const client = await connectClient(env)
  await client.listTools()
  const answer = await client.callTool({ name: 'plan_people', arguments: { package_id: 102, people } })
  const { code } = answerOf(answer).data as { code: string }
  const approve = [program, 'approve', code]

  // Without a terminal.
  const piped = spawnSync(process.execPath, approve, {
    env: { PATH: process.env['PATH'], ...env },
    input: 'y\n',
  })
  expect([piped.status, piped.stderr.toString()]).toEqual([
    2,
    expect.stringContaining('a person has to approve in a terminal'),
  ])

  // In a terminal with REFCHECK_STARTED_BY_AGENT, which `refcheck mcp` sets for every process it starts.
  const marked = { ...env, REFCHECK_STARTED_BY_AGENT: '1' }
  const opened = await openTerminal(approve, 100, { env: marked, isStdoutTerminal: true })
  expect((await opened.ended).code).toBe(2)
  expect(opened.raw()).toContain('approve was started by the program that runs the agent')
  expect(sandbox.requests()).toHaveLength(0)

  // In a terminal that a person opened.
  const person = await openTerminal(approve, 100, { env, isStdoutTerminal: true })
  await person.until('3 orders of 102 Identity check only')
  await person.until(/Order 102 Identity check only for 3 people \(Priya Example \(priya/)
  person.type('y\r')
  await person.until(/3\s+accepted/)
  expect((await person.ended).code).toBe(0)
  const ordered = sandbox.requests().map(({ recipient }) => recipient.email)
  expect(ordered).toEqual(people.map(({ recipient }) => recipient.email))

  const again = await openTerminal(approve, 100, { env, isStdoutTerminal: true })
  expect((await again.ended).code).toBe(2)
  expect(again.raw()).toContain('was already approved on')
  expect(new Set(sandbox.requests().map(({ request_id }) => request_id)).size).toBe(3)
}, 60_000)

import { spawnSync } from 'node:child_process'

import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, onTestFinished, test } from 'vitest'

import { parseAnswer } from '../harness/agent.ts'
import { program } from '../harness/program.ts'
import { openTerminal } from '../harness/terminal.ts'
import { world } from '../harness/world.ts'

const people = ['Priya', 'Mei', 'Tom'].map((first, index) => ({
  recipient: {
    first_name: first,
    last_name: 'Example',
    email: `${first.toLowerCase()}@example.com`,
    phone: `+6141234560${index}`,
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

test('an agent plans orders for three people over stdio; only a user in a separate terminal can approve them, and only once', async () => {
  const { env, sandbox } = await world({ seed: 'agent' })
  const client = await connectClient(env)
  await client.listTools()
  const answer = await client.callTool({ name: 'plan_people', arguments: { package_id: 102, people } })
  const { code } = parseAnswer(answer).data as { code: string }
  const approveArguments = [program, 'approve', code]

  // Without a terminal, the approval is refused.
  const pipedRun = spawnSync(process.execPath, approveArguments, {
    env: { PATH: process.env['PATH'], ...env },
    input: 'y\n',
  })
  expect([pipedRun.status, pipedRun.stderr.toString()]).toEqual([
    2,
    expect.stringContaining('a person has to approve in a terminal'),
  ])

  // It is also refused with REFCHECK_STARTED_BY_AGENT, which `refcheck mcp` sets for every process that it starts.
  const agentEnv = { ...env, REFCHECK_STARTED_BY_AGENT: '1' }
  const agentTerminal = await openTerminal(approveArguments, 100, { env: agentEnv, isStdoutTerminal: true })
  expect((await agentTerminal.ended).code).toBe(2)
  expect(agentTerminal.raw()).toContain('approve was started by the program that runs the agent')
  expect(sandbox.requests()).toHaveLength(0)

  // In a terminal that the user opened, the approval sends the orders.
  const userTerminal = await openTerminal(approveArguments, 100, { env, isStdoutTerminal: true })
  await userTerminal.until('3 orders of 102 Identity check only')
  await userTerminal.until(/Order 102 Identity check only for 3 people \(Priya Example \(priya/)
  userTerminal.type('y\r')
  await userTerminal.until(/3\s+accepted/)
  expect((await userTerminal.ended).code).toBe(0)
  const orderedEmails = sandbox.requests().map(({ recipient }) => recipient.email)
  expect(orderedEmails).toEqual(people.map(({ recipient }) => recipient.email))

  const secondTerminal = await openTerminal(approveArguments, 100, { env, isStdoutTerminal: true })
  expect((await secondTerminal.ended).code).toBe(2)
  expect(secondTerminal.raw()).toContain('was already approved on')
  expect(new Set(sandbox.requests().map(({ request_id }) => request_id)).size).toBe(3)
}, 60_000)

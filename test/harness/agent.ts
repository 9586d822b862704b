import { PassThrough } from 'node:stream'

import { Client, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client'
import { onTestFinished } from 'vitest'

import type { Outcome, RunOptions } from './run-command.ts'
import type { World } from './world.ts'

/** Result of a tool call: the JSON document in it, whether it is an error, and the text that a model reads. */
export interface Answer {
  data: unknown
  isError: boolean
  text: string
  /** The result as the client received it. */
  whole: unknown
}

/** The protocol's own client, connected to `refcheck mcp` in this process. */
export interface Agent {
  client: Client
  call: (name: string, input?: Record<string, unknown>) => Promise<Answer>
  /** Returns all text that the server has written to its stdout. */
  received: () => string
  /** Closes the client, and returns the exit code and output of the server. */
  close: () => Promise<Outcome>
}

/** Starts `refcheck mcp …` in this process and connects an MCP client to it. */
export async function connectAgent(
  { run }: Pick<World, 'run'>,
  argv: readonly string[] = [],
  options: RunOptions = {},
): Promise<Agent> {
  const stdin = new PassThrough()
  let received = ''
  let partialLine = ''
  const transport: Transport = {
    start: async () => undefined,
    send: async (message) => void stdin.write(`${JSON.stringify(message)}\n`),
    close: async () => {
      stdin.end()
      transport.onclose?.()
    },
  }
  const ended = run(['mcp', ...argv], {
    ...options,
    stdin,
    onWrite(stream, text) {
      if (stream !== 'stdout') return
      received += text
      const lines = (partialLine + text).split('\n')
      partialLine = lines.pop() ?? ''
      for (const line of lines) transport.onmessage?.(JSON.parse(line) as JSONRPCMessage)
    },
  })
  onTestFinished(async () => {
    stdin.end()
    await ended
  })
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(transport)
  return {
    client,
    received: () => received,
    call: async (name, input = {}) => parseAnswer(await client.callTool({ name, arguments: input })),
    async close() {
      await client.close()
      return ended
    },
  }
}

export function parseAnswer(result: Awaited<ReturnType<Client['callTool']>>): Answer {
  const { content, structuredContent, isError } = result
  const [first] = content
  const text = first?.type === 'text' ? first.text : ''
  const [, dataJson] = /<data \w+>\n(.*)\n<\/data \w+>$/s.exec(text) ?? []
  const data = dataJson === undefined ? undefined : (JSON.parse(dataJson) as unknown)
  return { data: data ?? structuredContent, isError: isError === true, text, whole: result }
}

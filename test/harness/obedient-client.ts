import type { Agent, Answer } from './agent.ts'
import { splitCommandLine } from '../../src/domain/wording/pasted-command.ts'

export interface ObedientOptions {
  agent: Agent
  /** Runs a command line, and returns the text of both streams. */
  type: (words: readonly string[]) => Promise<string>
}

/** Replaces `CODE` in an instruction until the client has read a code. */
const inventedCode = 'BCDF-BCDF'

/** If the client performs more actions than this, the instructions lead to an endless loop. */
const maxActions = 2_000

/**
 * A client that follows every instruction it reads: it runs command lines, calls tools with the JSON object after
 * their name, and reads resources. It follows the instructions in the results as well.
 */
export class ObedientClient {
  readonly #options: ObedientOptions
  readonly #doneActions = new Set<string>()
  /** Codes of plans, which replace `CODE` in an instruction. */
  readonly #codes = new Set<string>()
  /** All texts that the client read. */
  readonly readTexts: string[] = []
  readonly actions: string[] = []

  constructor(options: ObedientOptions) {
    this.#options = options
  }

  /** Calls a tool, and follows the instructions of the answer. */
  async start(name: string, input: Record<string, unknown> = {}): Promise<Answer | undefined> {
    const answer = await this.#options.agent.call(name, input).catch((error: unknown) => {
      this.readTexts.push(String(error))
    })
    if (answer === undefined) return undefined
    this.readTexts.push(answer.text)
    for (const text of collectTexts(answer.data)) await this.#obey(text)
    return answer
  }

  async #obey(text: string): Promise<void> {
    for (const [code] of text.matchAll(/\b[B-X]{4}-[B-X]{4}\b/g)) this.#codes.add(code)
    const codes = this.#codes.size === 0 ? [inventedCode] : [...this.#codes]
    for (const instruction of text.includes('CODE')
      ? codes.map((code) => text.replaceAll('CODE', code))
      : [text]) {
      for (const [line] of instruction.matchAll(/refcheck [a-z][^\n<>[]*?(?= and | then | now|[\n<>[]|$)/g))
        await this.#typeLine(line)
      for (const { 0: name, index } of instruction.matchAll(/\b(?:[a-z]+(?:_[a-z]+)+|approve|order)\b/g))
        await this.#callTool(name, findJsonObject(instruction.slice(index + name.length)))
      for (const [uri] of instruction.matchAll(/refcheck:\/\/[\w./-]+/g)) await this.#readResource(uri)
    }
  }

  async #typeLine(line: string): Promise<void> {
    if (!this.#addIfNew(`$ ${line}`)) return
    const [, ...words] = splitCommandLine(line.replaceAll(/["']/g, ''), 'an instruction')
    const shown = await this.#options.type(words)
    this.readTexts.push(shown)
  }

  async #callTool(name: string, input: Record<string, unknown>): Promise<void> {
    if (this.#addIfNew(`${name} ${JSON.stringify(input)}`)) await this.start(name, input)
  }

  async #readResource(uri: string): Promise<void> {
    if (!this.#addIfNew(uri)) return
    const { contents } = await this.#options.agent.client.readResource({ uri })
    for (const each of contents) this.readTexts.push(JSON.stringify(each))
  }

  #addIfNew(action: string): boolean {
    if (this.#doneActions.has(action)) return false
    if (this.actions.push(action) > maxActions) throw new Error('the instructions lead to an endless loop')
    this.#doneActions.add(action)
    return true
  }
}

function collectTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => [name].concat(collectTexts(inner)))
}

/** Returns the first JSON object in a text; an empty object if there is none. */
function findJsonObject(text: string): Record<string, unknown> {
  const from = text.indexOf('{')
  if (from === -1) return {}
  for (let to = text.indexOf('}', from); to !== -1; to = text.indexOf('}', to + 1)) {
    try {
      return JSON.parse(text.slice(from, to + 1)) as Record<string, unknown>
    } catch {
      // A longer part of the text may be valid.
    }
  }
  return {}
}

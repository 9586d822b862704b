import type { Agent, Answer } from './agent.ts'
import { commandWords } from '../../src/domain/wording/pasted-command.ts'

export interface ObedientOptions {
  agent: Agent
  /** Types a command line; what both streams showed. */
  type: (words: readonly string[]) => Promise<string>
}

/** More than this is a circle. */
const maxDeeds = 2_000

/**
 * A client that does everything it reads. Command lines are typed, calls are made with the object that follows
 * them, addresses are read; the results are read in turn.
 */
export class ObedientClient {
  readonly #options: ObedientOptions
  readonly #done = new Set<string>()
  readonly #codes = new Set<string>()
  /** Everything that it read, and did. */
  readonly read: string[] = []
  readonly deeds: string[] = []

  constructor(options: ObedientOptions) {
    this.#options = options
  }

  /** Makes a call of its own, and does what the answer says. */
  async start(name: string, input: Record<string, unknown> = {}): Promise<Answer | undefined> {
    const answer = await this.#options.agent.call(name, input).catch((error: unknown) => {
      this.read.push(String(error))
    })
    if (answer === undefined) return undefined
    this.read.push(answer.text)
    for (const text of textsIn(answer.data)) await this.#obey(text)
    return answer
  }

  async #obey(text: string): Promise<void> {
    for (const [code] of text.matchAll(/\b[B-X]{4}-[B-X]{4}\b/g)) this.#codes.add(code)
    const codes = this.#codes.size === 0 ? ['BCDF-BCDF'] : [...this.#codes]
    for (const instruction of text.includes('CODE')
      ? codes.map((code) => text.replaceAll('CODE', code))
      : [text]) {
      for (const [line] of instruction.matchAll(/refcheck [a-z][^\n<>[]*?(?= and | then | now|[\n<>[]|$)/g))
        await this.#type(line)
      for (const { 0: name, index } of instruction.matchAll(/\b(?:[a-z]+(?:_[a-z]+)+|approve|order)\b/g))
        await this.#call(name, objectIn(instruction.slice(index + name.length)))
      for (const [uri] of instruction.matchAll(/refcheck:\/\/[\w./-]+/g)) await this.#resource(uri)
    }
  }

  async #type(line: string): Promise<void> {
    if (!this.#isNew(`$ ${line}`)) return
    const [, ...words] = commandWords(line.replaceAll(/["']/g, ''), 'an instruction')
    const shown = await this.#options.type(words)
    this.read.push(shown)
  }

  async #call(name: string, input: Record<string, unknown>): Promise<void> {
    if (this.#isNew(`${name} ${JSON.stringify(input)}`)) await this.start(name, input)
  }

  async #resource(uri: string): Promise<void> {
    if (!this.#isNew(uri)) return
    const { contents } = await this.#options.agent.client.readResource({ uri })
    for (const each of contents) this.read.push(JSON.stringify(each))
  }

  #isNew(deed: string): boolean {
    if (this.#done.has(deed)) return false
    if (this.deeds.push(deed) > maxDeeds) throw new Error('it goes round in circles')
    this.#done.add(deed)
    return true
  }
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => [name].concat(textsIn(inner)))
}

/** The first JSON object of a text; none where there is none. */
function objectIn(text: string): Record<string, unknown> {
  const from = text.indexOf('{')
  if (from === -1) return {}
  for (let to = text.indexOf('}', from); to !== -1; to = text.indexOf('}', to + 1)) {
    try {
      return JSON.parse(text.slice(from, to + 1)) as Record<string, unknown>
    } catch {
      // A longer one may be whole.
    }
  }
  return {}
}

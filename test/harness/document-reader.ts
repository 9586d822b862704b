import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { sign, signingKey } from '../../src/contract/signature.ts'
import { splitCommandLine } from '../../src/domain/wording/pasted-command.ts'
import { connectAgent } from './agent.ts'
import { ScriptedPrompter } from './scripted-prompter.ts'
import type { ManualClock } from './manual-clock.ts'
import type { RunOptions } from './run-command.ts'
import { Ids, oneLine, type Transcript } from './transcript.ts'
import type { World } from './world.ts'

/**
 * Runs the command lines of a document's transcripts in sequence and compares their output. `$ cat FILE`
 * creates the file with the content shown if it does not exist. `--update` replaces the outputs in the
 * document.
 */
export class DocumentReader {
  readonly #here: World
  readonly #clock: ManualClock
  readonly #ids = new Ids()
  readonly #files = new Set<string>()

  constructor(here: World, clock: ManualClock) {
    this.#here = here
    this.#clock = clock
  }

  async runAll(transcripts: readonly Transcript[]): Promise<Transcript[]> {
    const results: Transcript[] = []
    for (const transcript of transcripts) {
      const steps: Transcript['steps'] = []
      for (const step of transcript.steps) steps.push({ ...step, output: await this.#runStep(step) })
      results.push({ ...transcript, steps })
    }
    return results
  }

  async #runStep({ command, output }: Transcript['steps'][number]): Promise<string> {
    const [, planCode] = /^refcheck approve ([B-X-]{9})$/.exec(command) ?? []
    if (planCode !== undefined) await this.#planOrder(planCode)
    const [program, ...words] = splitCommandLine(this.#ids.toActual(oneLine(command)), 'the document')
    const [first = ''] = words
    if (program === 'cat') return this.#showFile(first, output)
    assert.equal(program, 'refcheck', command)
    const { printed, code } = await this.#run(words)
    if (!/^(Error|Interrupted|Cancelled| +"error":)/m.test(output))
      assert.equal(code, 0, `${command}\n${printed}`)
    if (output === '') return ''
    const trailingLines = /\n+$/.exec(output)?.[0].slice(1) ?? ''
    if (this.#ids.addPairsIfSame(output.replace(/\n+$/, '\n'), printed)) return output
    this.#ids.addPairsInOrder(output, printed)
    return this.#ids.toShown(printed) + trailingLines
  }

  async #showFile(name: string, output: string): Promise<string> {
    const content = this.#ids.toActual(output.replace(/\n+$/, '\n'))
    const path = join(this.#here.folder, name)
    if (this.#files.has(name)) assert.equal(readFileSync(path, 'utf8'), content)
    else writeFileSync(path, content)
    this.#files.add(name)
    return output
  }

  /**
   * Runs a command line and returns both streams in one text, as a terminal shows them. `webhook listen` gets
   * an event.
   */
  async #run(words: readonly string[]): Promise<{ printed: string; code: number }> {
    const { run, folder, url } = this.#here
    const isListening = words.slice(0, 2).join(' ') === 'webhook listen'
    const isApproving = words[0] === 'approve'
    let printed = ''
    const { code } = await run(isListening ? [...words, '--port', '0'] : words, {
      clock: this.#clock,
      ...(isApproving && confirmingOptions((text) => (printed += text))),
      onWrite: (_stream, text) => {
        printed += text
        const [, address] = /Listening at (\S+)/.exec(text) ?? []
        if (isListening && address !== undefined) void this.#deliver(address)
      },
    })
    const shownText = printed.replaceAll(folder, '…').replaceAll(url, 'http://127.0.0.1:4280')
    return { printed: shownText, code }
  }

  /** Plans an order as an agent does. The code of this plan replaces the code in the document. */
  async #planOrder(code: string): Promise<void> {
    const agent = await connectAgent(this.#here, [], { clock: this.#clock })
    const recipient = {
      first_name: 'Mei',
      last_name: 'Tanaka',
      email: 'mei@example.com',
      phone: '+819012345678',
    }
    const { data } = await agent.call('plan_order', { body: { package_id: 102, recipient } })
    this.#ids.addPair(code, (data as { code: string }).code)
  }

  async #deliver(url: string): Promise<void> {
    const { sandbox } = this.#here
    const [request] = sandbox.requests()
    const body = JSON.stringify({
      event: 'request.updated',
      request_id: request?.request_id ?? '',
      status: 'COMPLETED',
    })
    const signature = sign(Buffer.from(body), signingKey(sandbox.credentials.webhookSecret))
    const headers = { 'content-type': 'application/json', 'x-service-signature': signature }
    await fetch(url, { method: 'POST', body, headers })
  }
}

/** Options for a person at a terminal who confirms the plan. */
function confirmingOptions(show: (text: string) => void): Partial<RunOptions> {
  const prompter = new ScriptedPrompter([{ ask: /^Order /, confirm: true }], show)
  return { tty: true, prompter, env: { NO_COLOR: '1' } }
}

import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Context } from './context.ts'
import { InternalError, InterruptedError } from '../errors/kinds.ts'
import { type Sink, type Streams, styled, type Terminal } from '../output/terminal.ts'
import { shellWord } from '../domain/wording/shell-word.ts'
import type { DemoEvent, DemoServices, DemoRun } from '../usecases/demo/run.ts'
import { sandboxServices } from './sandbox.ts'

interface DemoOptions {
  sink: Sink
  terminal: Terminal
  output: string | undefined
  /** The exit code of a command that was interrupted. */
  interruptedCode: number
}

/** A demo in a folder of its own, whose transcript goes to `sink`. */
export async function demoServices(
  context: Context,
  { sink, terminal, output, interruptedCode }: DemoOptions,
): Promise<DemoServices> {
  const home = await mkdtemp(join(tmpdir(), 'refcheck-demo-'))
  return {
    sandbox: await sandboxServices(context),
    home,
    output,
    onEvent: (event) => sink.write(transcript(event, terminal)),
    async run(argv, env): Promise<DemoRun> {
      const printed: string[] = []
      if (context.program === undefined) throw new InternalError('no program to run command lines with')
      const code = await context.program(argv, {
        ...context,
        cwd: home,
        streams: teed(context.streams, sink, printed),
        env: { ...context.env, ...env },
      })
      if (code === interruptedCode) throw new InterruptedError('the demo was interrupted')
      return { code, printed: printed.join('') }
    },
  }
}

function transcript(event: DemoEvent, terminal: Terminal): string {
  if (event.name === 'typed') {
    return `\n${styled(terminal, 'bold', `$ refcheck ${event.argv.map(shellWord).join(' ')}`)}\n`
  }
  const lines = event.text.split('\n').map((line) => styled(terminal, 'cyan', line === '' ? '' : `# ${line}`))
  return `\n${lines.join('\n')}\n`
}

/** Both streams of the inner command into one transcript, in the order they were written. */
function teed(streams: Streams, sink: Sink, printed: string[]): Streams {
  const into: Sink = {
    write(data) {
      printed.push(Buffer.from(data).toString('utf8'))
      sink.write(data)
    },
    drained: () => sink.drained(),
    isTTY: sink.isTTY,
    columns: sink.columns,
  }
  return { stdin: streams.stdin, stdout: into, stderr: into }
}

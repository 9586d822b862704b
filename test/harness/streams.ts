import { Readable } from 'node:stream'

import type { Sink, Source, Streams } from '../../src/output/terminal.ts'

export interface CapturedStreams extends Streams {
  out(): Buffer
  err(): Buffer
}

export interface StreamOptions {
  /** All of it, or as it comes. */
  stdin?: string | Uint8Array | Readable | undefined
  /** Whether each stream is a terminal; none is by default. */
  tty?: boolean | { stdin?: boolean; stdout?: boolean; stderr?: boolean } | undefined
  columns?: number | undefined
  /** Called with each piece of text as it is written. */
  onStderr?: ((text: string) => void) | undefined
  /** Called with each piece of text of either, in the order of a terminal that shows both. */
  onWrite?: ((stream: 'stdout' | 'stderr', text: string) => void) | undefined
}

/** Standard streams that are buffers. */
export function captureStreams(options: StreamOptions = {}): CapturedStreams {
  const tty =
    typeof options.tty === 'object'
      ? options.tty
      : { stdin: options.tty, stdout: options.tty, stderr: options.tty }
  const { columns, onWrite, onStderr } = options
  const stdout = sink(tty.stdout ?? false, columns, (text) => onWrite?.('stdout', text))
  const stderr = sink(tty.stderr ?? false, columns, (text) => {
    onWrite?.('stderr', text)
    onStderr?.(text)
  })
  const stdin: Source = {
    isTTY: tty.stdin ?? false,
    stream: options.stdin instanceof Readable ? options.stdin : held(options.stdin),
  }
  return { stdin, stdout, stderr, out: stdout.taken, err: stderr.taken }
}

function held(text: string | Uint8Array | undefined): Readable {
  return Readable.from(text === undefined ? [] : [Buffer.from(text)])
}

function sink(
  isTTY: boolean,
  columns = 80,
  onWrite?: (text: string) => void,
): Sink & { taken: () => Buffer } {
  const chunks: Uint8Array[] = []
  return {
    write(data) {
      chunks.push(Buffer.from(data))
      onWrite?.(Buffer.from(data).toString('utf8'))
    },
    drained: () => Promise.resolve(),
    isTTY,
    columns,
    taken: () => Buffer.concat(chunks),
  }
}

import { Readable } from 'node:stream'

import type { Sink, Source, Streams } from '../../src/output/terminal.ts'

export interface CapturedStreams extends Streams {
  out(): Buffer
  err(): Buffer
}

export interface StreamOptions {
  /** The whole input, or a stream. */
  stdin?: string | Uint8Array | Readable | undefined
  /** Whether each stream is a terminal; none is by default. */
  tty?: boolean | { stdin?: boolean; stdout?: boolean; stderr?: boolean } | undefined
  columns?: number | undefined
  /** Called with each piece of text as it is written. */
  onStderr?: ((text: string) => void) | undefined
  /** Called with each piece of text of both streams, in the sequence of writing. */
  onWrite?: ((stream: 'stdout' | 'stderr', text: string) => void) | undefined
}

/** Standard streams that collect their output in buffers. */
export function captureStreams(options: StreamOptions = {}): CapturedStreams {
  const tty =
    typeof options.tty === 'object'
      ? options.tty
      : { stdin: options.tty, stdout: options.tty, stderr: options.tty }
  const { columns, onWrite, onStderr } = options
  const stdout = captureSink(tty.stdout ?? false, columns, (text) => onWrite?.('stdout', text))
  const stderr = captureSink(tty.stderr ?? false, columns, (text) => {
    onWrite?.('stderr', text)
    onStderr?.(text)
  })
  const stdin: Source = {
    isTTY: tty.stdin ?? false,
    stream: options.stdin instanceof Readable ? options.stdin : readableOf(options.stdin),
  }
  return { stdin, stdout, stderr, out: stdout.written, err: stderr.written }
}

function readableOf(text: string | Uint8Array | undefined): Readable {
  return Readable.from(text === undefined ? [] : [Buffer.from(text)])
}

function captureSink(
  isTTY: boolean,
  columns = 80,
  onWrite?: (text: string) => void,
): Sink & { written: () => Buffer } {
  const chunks: Uint8Array[] = []
  return {
    write(data) {
      chunks.push(Buffer.from(data))
      onWrite?.(Buffer.from(data).toString('utf8'))
    },
    drain: () => Promise.resolve(),
    isTTY,
    columns,
    written: () => Buffer.concat(chunks),
  }
}

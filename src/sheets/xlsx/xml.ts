import { SaxesParser } from 'saxes'

import { InvalidInputError } from '../../errors/kinds.ts'
import { refusal } from '../refusal.ts'
import type { Archive } from './archive.ts'

export type Attributes = Readonly<Record<string, string>>

/** What is listened to. Names come without their namespace's prefix. */
export interface XmlHandlers {
  open?: (name: string, attributes: Attributes) => void
  close?: (name: string) => void
  text?: (text: string) => void
}

/** Stops the reading from inside a handler. */
export class Enough extends Error {}

/** Reads a part to its end. */
export async function readXml(
  archive: Archive,
  part: string,
  name: string,
  handlers: XmlHandlers,
): Promise<void> {
  for await (const _ of xmlChunks(archive, part, name, handlers));
}

/** The same in steps: gives control back after each chunk. No document type is taken, so no entity grows. */
export async function* xmlChunks(
  archive: Archive,
  part: string,
  name: string,
  handlers: XmlHandlers,
  largest?: number,
): AsyncGenerator<void> {
  const parser = listening(handlers, `${name}: ${part}`)
  let decoder: InstanceType<typeof TextDecoder> | undefined
  try {
    for await (const bytes of archive.read(part, largest)) {
      decoder ??= new TextDecoder(encodingOf(bytes), { fatal: true })
      parser.write(decoder.decode(bytes, { stream: true }))
      yield
    }
    parser.write(decoder?.decode() ?? '')
    parser.close()
    yield
  } catch (error) {
    if (error instanceof InvalidInputError || error instanceof Enough) throw error
    const why = error instanceof Error ? error.message.slice(0, 120) : 'unknown'
    throw refusal(
      name,
      `its part ${part} is not sound XML (${why})`,
      'Open it in a spreadsheet and save it anew.',
      error,
    )
  }
}

function listening({ open, close, text }: XmlHandlers, fileName: string): SaxesParser<{ xmlns: false }> {
  const parser = new SaxesParser({ fileName, position: false, xmlns: false })
  parser.on('error', (error) => {
    throw error
  })
  parser.on('doctype', () => {
    throw new Error('a document type has no place in a workbook')
  })
  if (open !== undefined) {
    parser.on('opentag', (tag) => open(local(tag.name), tag.attributes))
  }
  if (close !== undefined) parser.on('closetag', (tag) => close(local(tag.name)))
  if (text !== undefined) {
    parser.on('text', text)
    parser.on('cdata', text)
  }
  return parser
}

function local(name: string): string {
  const colon = name.indexOf(':')
  return colon === -1 ? name : name.slice(colon + 1)
}

function encodingOf(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  return 'utf-8'
}

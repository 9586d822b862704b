import { limits } from '../limits.ts'
import type { Attributes } from '../xlsx/xml.ts'

/**
 * The text of a cell: its paragraphs, a line each. White space stands as it is written: ODF 1.3 would collapse it,
 * but LibreOffice Calc shows it, and writes what would be collapsed as elements.
 */
export class Paragraphs {
  #whole: string | undefined
  #depth = 0
  /** Of the whole sheet, written as counts: a few bytes of a file stand for thousands. */
  #spaces = 0

  clear(): void {
    this.#whole = undefined
    this.#depth = 0
  }

  /** Undefined where there was no paragraph. */
  taken(): string | undefined {
    return this.#whole
  }

  open(tag: string, attributes: Attributes): void {
    if (tag === 'text:p' || tag === 'text:h') {
      this.#depth += 1
      this.#whole = this.#whole === undefined ? '' : `${this.#whole}\n`
    } else if (tag === 'text:s') {
      const count = Number(attributes['text:c'] ?? 1)
      const length = Math.min(count > 0 ? count : 1, 32_767)
      this.#spaces += length
      if (this.#spaces > limits.characters) {
        throw new Error(`it holds more than ${String(limits.characters)} repeated spaces`)
      }
      this.add(' '.repeat(length))
    } else if (tag === 'text:tab') this.add('\t')
    else if (tag === 'text:line-break') this.add('\n')
  }

  close(tag: string): void {
    if (tag === 'text:p' || tag === 'text:h') this.#depth -= 1
  }

  add(piece: string): void {
    if (this.#depth > 0) this.#whole = (this.#whole ?? '') + piece
  }
}

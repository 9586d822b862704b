import { hash } from 'node:crypto'

type NamePart = string | number

/**
 * Draws random values by name. The same seed and name give the same value, whatever was drawn before, so that
 * a run can be repeated exactly and a restart draws the same values.
 */
export interface SeededRandom {
  /** Returns a number in [0, 1). */
  fraction(...name: NamePart[]): number
  pick<T>(choices: readonly [T, ...T[]], ...name: NamePart[]): T
  /** Returns a version 4 UUID. */
  uuid(...name: NamePart[]): string
  /** Returns `length` letters and digits; `length` is at most 32. */
  text(length: number, ...name: NamePart[]): string
  /**
   * Returns a stream of values with one name. Each further value of a stream costs less than a value with its
   * own name.
   */
  stream(...name: NamePart[]): RandomStream
}

/** A sequence of random values that depends only on its name. */
export interface RandomStream {
  fraction(): number
  /** Returns a number in [from, to). */
  between(from: number, to: number): number
  pick<T>(choices: readonly [T, ...T[]]): T
  uuid(): string
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

export function seededRandom(seed: string | number): SeededRandom {
  const draw = (name: readonly NamePart[]): string => hash('sha256', `${seed}/${name.join('/')}`)
  const fraction = (...name: NamePart[]): number => Number.parseInt(draw(name).slice(0, 12), 16) / 2 ** 48
  return {
    fraction,
    pick: (choices, ...name) => choices[Math.floor(fraction(...name) * choices.length)] ?? choices[0],
    uuid: (...name) => toUuid(draw(name)),
    text(length, ...name) {
      const bytes = Buffer.from(draw(name), 'hex').subarray(0, length)
      return Array.from(bytes, (byte) => alphabet.charAt(byte % alphabet.length)).join('')
    },
    stream: (...name) => createStream(draw(name)),
  }
}

const uuidBytes = Buffer.alloc(16)

/** Creates the generator sfc32 of Chris Doty-Humphrey's PractRand, seeded with 96 bits of a hash. */
function createStream(seed: string): RandomStream {
  let a = Number.parseInt(seed.slice(0, 8), 16)
  let b = Number.parseInt(seed.slice(8, 16), 16)
  let c = Number.parseInt(seed.slice(16, 24), 16)
  let count = 1
  const nextWord = (): number => {
    const sum = (a + b + count) | 0
    count = (count + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + sum
    return sum >>> 0
  }
  for (let round = 0; round < 12; round += 1) nextWord()
  const fraction = (): number => nextWord() / 2 ** 32
  return {
    fraction,
    between: (from, to) => from + fraction() * (to - from),
    pick: (choices) => choices[Math.floor(fraction() * choices.length)] ?? choices[0],
    uuid() {
      for (let position = 0; position < 16; position += 4) uuidBytes.writeUInt32BE(nextWord(), position)
      return toUuid(uuidBytes.toString('hex'))
    },
  }
}

function toUuid(hex: string): string {
  const variant = '89ab'.charAt(Number.parseInt(hex.charAt(16), 16) % 4)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

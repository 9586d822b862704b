import { hash } from 'node:crypto'

type Part = string | number

/**
 * Luck by name: the same seed and the same name give the same result, in whatever order they are
 * asked for. So a run replays byte for byte, and a restart draws what it would have drawn.
 */
export interface Luck {
  /** A number in [0, 1). */
  fraction(...name: Part[]): number
  /** A number in [from, to). */
  between(from: number, to: number, ...name: Part[]): number
  pick<T>(choices: readonly [T, ...T[]], ...name: Part[]): T
  /** A version 4 UUID. */
  uuid(...name: Part[]): string
  /** Letters and digits, 32 at most. */
  text(length: number, ...name: Part[]): string
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

export function seededLuck(seed: string | number): Luck {
  const draw = (name: readonly Part[]): string => hash('sha256', `${seed}/${name.join('/')}`)
  const fraction = (...name: Part[]): number => Number.parseInt(draw(name).slice(0, 12), 16) / 2 ** 48
  return {
    fraction,
    between: (from, to, ...name) => from + fraction(...name) * (to - from),
    pick: (choices, ...name) => choices[Math.floor(fraction(...name) * choices.length)] ?? choices[0],
    uuid: (...name) => asUuid(draw(name)),
    text(length, ...name) {
      const bytes = Buffer.from(draw(name), 'hex').subarray(0, length)
      return Array.from(bytes, (byte) => alphabet.charAt(byte % alphabet.length)).join('')
    },
  }
}

function asUuid(hex: string): string {
  const variant = '89ab'.charAt(Number.parseInt(hex.charAt(16), 16) % 4)
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join('-')
}

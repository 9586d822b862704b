import { variable } from '../../src/host/process.ts'

/** `npm run test:whole` runs all cases of long tests; `npm test` runs a sample of them. */
const isWhole = variable(process.env, 'REFCHECK_WHOLE') !== undefined

/** Returns `count` elements of a list of cases, spread evenly over it; all of them with `npm run test:whole`. */
export function sampleOf<Each>(all: readonly Each[], count: number): readonly Each[] {
  const step = Math.max(1, all.length / count)
  return isWhole ? all : all.filter((_, at) => Math.floor(at / step) !== Math.floor((at - 1) / step))
}

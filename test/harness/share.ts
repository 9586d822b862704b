import { variable } from '../../src/host/process.ts'

/** `npm run test:whole`: what takes long is tried whole, of which `npm test` tries a share. */
const isWhole = variable(process.env, 'REFCHECK_WHOLE') !== undefined

/** So many of a list of seeds, moments or the like, spread over it; all of them in `npm run test:whole`. */
export function shareOf<Each>(all: readonly Each[], count: number): readonly Each[] {
  const step = Math.max(1, all.length / count)
  return isWhole ? all : all.filter((_, at) => Math.floor(at / step) !== Math.floor((at - 1) / step))
}

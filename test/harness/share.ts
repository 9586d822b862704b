import { variable } from '../../src/host/env.ts'

/** `npm run test:whole`: what takes long is tried whole, of which `npm test` tries a share. */
const isWhole = variable(process.env, 'REFCHECK_WHOLE') !== undefined

/** The first of a list of seeds, moments or the like; all of them in `npm run test:whole`. */
export function shareOf<Each>(all: readonly Each[], count: number): readonly Each[] {
  return isWhole ? all : all.slice(0, count)
}

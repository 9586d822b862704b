import { join } from 'node:path'

const root = process.env['REFCHECK_BUILT'] ?? join(import.meta.dirname, '..', '..')

/** Path of the built program; see fresh-build.ts. */
export const program = join(root, 'bin', 'run.js')

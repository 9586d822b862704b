import { join } from 'node:path'

const root = process.env['REFCHECK_BUILT'] ?? join(import.meta.dirname, '..', '..')

/** The program as it is shipped; see fresh-build.ts. */
export const program = join(root, 'bin', 'run.js')

import fc from 'fast-check'

import { variable } from '../../src/host/process.ts'

/** One seed for all properties, so that a run says the same twice; `REFCHECK_SEED=N npm test` looks elsewhere. */
fc.configureGlobal({ seed: Number(variable(process.env, 'REFCHECK_SEED') ?? 1) })

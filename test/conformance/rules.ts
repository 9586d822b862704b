import { conductRules } from './rules/conduct.ts'
import { endpointRules } from './rules/endpoints.ts'
import { resourceRules } from './rules/resources.ts'
import type { Rule } from './rules/rule.ts'
import { stateRules } from './rules/states.ts'

/** Every sentence and table row of the document, with the cases that test it or the reason why none can. */
export const rules: readonly Rule[] = [...resourceRules, ...stateRules, ...endpointRules, ...conductRules]

/** Lines of the document that only introduce the next lines. */
export const captions: readonly string[] = [
  'General properties:',
  'Permission levels:',
  'Transitions:',
  'Rules:',
  'Body:',
  'Errors:',
  'Headers:',
  'Delivery request headers:',
  'Envelope for all responses:',
  'Status matrix:',
]

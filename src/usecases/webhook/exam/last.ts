import type { ExamCase } from './case.ts'
import { rules } from '../../../domain/webhook/exam-report.ts'

/** How many events come side by side. */
const burst = 100

/** What may bring a receiver down comes last. */
export const lastCases: readonly ExamCase[] = [
  {
    id: 'burst',
    title: `${burst} events side by side`,
    rule: rules.acknowledge,
    async run(sitting) {
      await Promise.all(Array.from({ length: burst }, () => sitting.accept(sitting.parcel())))
      const lost = sitting.findings.length
      const [first] = sitting.findings.splice(0)
      // Nothing says how many may come at once.
      if (first !== undefined)
        sitting.find('advice', `${lost} of ${burst} were not accepted, one of them: ${first.text}`)
    },
  },
  {
    id: 'signed-oddities',
    title: 'bodies with a good signature that are no event',
    rule: rules.acknowledge,
    async run(sitting) {
      for (const [what, body] of [
        ['nothing', ''],
        ['not JSON', 'hello'],
        ['JSON null', 'null'],
        ['a list', '[]'],
        ['an empty object', '{}'],
        ['numbers for strings', '{"event":1,"request_id":2,"status":3}'],
      ] as const) {
        await sitting.survive(sitting.parcel(body), what)
      }
    },
  },
  {
    id: 'still-good',
    title: 'a good event after all that',
    rule: rules.acknowledge,
    run: async (sitting) => void (await sitting.accept(sitting.parcel())),
  },
]

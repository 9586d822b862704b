import type { ExamCase } from './case.ts'
import { type Level, rules } from '../../../domain/webhook/exam-report.ts'
import type { CaseRun } from './case-run.ts'

/** What a receiver has to refuse: everything the service did not sign like this. */
export const refusingCases: readonly ExamCase[] = [
  {
    id: 'signature-missing',
    title: 'no signature',
    ...forged(async (sitting, body) => void (await sitting.refuse(sitting.parcel(body, { signatures: [] })))),
  },
  {
    id: 'signature-empty',
    title: 'an empty signature',
    ...forged(altered(() => '')),
  },
  {
    id: 'signature-wrong',
    title: 'a signature made with another secret',
    ...forged(async (sitting, body) => {
      await sitting.refuse(sitting.parcel(body, { signatures: [sitting.signAsStranger(body)] }))
      await sitting.refuse(sitting.parcel(body, { signatures: ['0'.repeat(64)] }), 'sixty-four zeros')
      const signatures = [sitting.signWithNothing(body)]
      await sitting.refuse(sitting.parcel(body, { signatures }), 'an empty secret')
    }),
  },
  {
    id: 'signature-upper-case',
    title: 'the signature in upper case',
    // The same bytes in other digits: who takes them lets nobody in.
    ...forged(altered((good) => good.toUpperCase(), 'advice')),
  },
  {
    id: 'signature-prefixed',
    title: 'the signature after "sha256="',
    ...forged(altered((good) => `sha256=${good}`)),
  },
  {
    id: 'signature-doubled',
    title: 'the signature twice: in one value, and in two headers',
    ...forged(async (sitting, body) => {
      const good = sitting.sign(body)
      await sitting.refuse(sitting.parcel(body, { signatures: [good + good] }), 'in one value')
      await sitting.refuse(sitting.parcel(body, { signatures: [good, good] }), 'in two headers', 'advice')
    }),
  },
  {
    id: 'signature-cut',
    title: 'the first part of the signature',
    ...forged(async (sitting, body) => {
      for (const length of [1, 32, 62, 63]) {
        const signatures = [sitting.sign(body).slice(0, length)]
        await sitting.refuse(sitting.parcel(body, { signatures }), `${length} of 64 characters`)
      }
    }),
  },
  {
    id: 'signature-longer',
    title: 'the signature with something after it',
    ...forged(async (sitting, body) => {
      for (const more of ['00', 'zz', '0']) {
        const signatures = [sitting.sign(body) + more]
        await sitting.refuse(sitting.parcel(body, { signatures }), `followed by "${more}"`)
      }
    }),
  },
  {
    id: 'signature-not-hex',
    title: 'characters that are not hexadecimal',
    ...forged(async (sitting, body) => {
      await sitting.refuse(sitting.parcel(body, { signatures: ['z'.repeat(64)] }))
      const signatures = [`${sitting.sign(body).slice(0, 62)}zz`]
      await sitting.refuse(sitting.parcel(body, { signatures }), 'at the end of a good one')
    }),
  },
  {
    id: 'body-edited',
    title: 'an edited body under the signature of the one that was sent',
    rule: rules.exactBytes,
    async run(sitting) {
      const body = sitting.event({ status: 'PARTIAL' })
      const signatures = [sitting.sign(body)]
      const edited = body.replace('PARTIAL', 'COMPLETED')
      await sitting.refuse({ body: Buffer.from(edited), signatures }, 'another status')
      const longer = body.replace('}', ',"admin":true}')
      await sitting.refuse({ body: Buffer.from(longer), signatures }, 'another field')
    },
  },
  {
    id: 'body-reformatted',
    title: 'the same JSON in other bytes',
    rule: rules.exactBytes,
    async run(sitting) {
      const body = sitting.event()
      const signatures = [sitting.sign(body)]
      const indented = JSON.stringify(JSON.parse(body), null, 2)
      await sitting.refuse({ body: Buffer.from(indented), signatures }, 'indented')
      await sitting.refuse({ body: Buffer.from(`${body}\n`), signatures }, 'a newline at its end')
      await sitting.refuse({ body: Buffer.from(`\uFEFF${body}`), signatures }, 'a byte order mark')
    },
  },
  {
    id: 'verify-before-parsing',
    title: 'a forged body that is not JSON',
    rule: rules.exactBytes,
    run: verifiesFirst,
  },
]

function forged(run: (sitting: CaseRun, body: string) => Promise<void>): Pick<ExamCase, 'rule' | 'run'> {
  return { rule: rules.signature, run: (sitting) => run(sitting, sitting.event()) }
}

function altered(change: (good: string) => string, level: Level = 'must') {
  return async (sitting: CaseRun, body: string): Promise<void> => {
    await sitting.refuse(sitting.parcel(body, { signatures: [change(sitting.sign(body))] }), '', level)
  }
}

/** Who verifies first treats a forged body alike, whatever is in it. */
async function verifiesFirst(sitting: CaseRun): Promise<void> {
  const signatures = ['0'.repeat(64)]
  const json = await sitting.refuse({ body: Buffer.from(sitting.event()), signatures }, 'JSON')
  for (const [what, text] of [
    ['not JSON', '{"event":'],
    ['JSON null', 'null'],
  ] as const) {
    const reply = await sitting.refuse({ body: Buffer.from(text), signatures }, what)
    const { status } = reply
    if (status === null || json.status === null || status === json.status) continue
    const failed = status >= 500 && json.status < 500
    const words = `forged JSON is answered ${json.status} and a forged body that is ${what} ${status}: it is parsed before it is verified`
    sitting.find(failed ? 'must' : 'advice', words)
  }
}

import type { Answer } from '../answer.ts'
import { unknownId, packages } from '../discoveries.ts'
import type { CallOptions } from '../probe.ts'
import type { Visit } from '../visit.ts'

/**
 * Asks every authenticated endpoint once. The POST has an empty body: whatever a deployment does
 * with it, nothing is ordered.
 */
export async function everyEndpoint(visit: Visit, options: CallOptions): Promise<Answer[]> {
  const { probe } = visit
  const id = (await packages(visit))[0]?.id ?? 1
  const paths = [
    '/v1/packages',
    `/v1/packages/${id}/schema`,
    `/v1/requests/${unknownId}`,
    `/v1/reports/${unknownId}`,
    `/v1/reports/${unknownId}/referees/1`,
    '/v1/users',
  ]
  const answers: Answer[] = []
  for (const path of paths) answers.push(await probe.get(path, options))
  answers.push(await probe.post({}, options))
  return answers
}

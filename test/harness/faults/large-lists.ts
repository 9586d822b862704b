import type { Interceptor } from '../world.ts'

/** Returns an interceptor that answers every call with a list of `count` items. */
export const answerWithList =
  (name: string, count: number, item: (at: number) => string): Interceptor =>
  () => {
    const items = Array.from({ length: count }, (_, at) => item(at)).join(',')
    return new Response(`{"data":{"${name}":[${items}]},"status_message":"OK","message":"OK"}`, {
      headers: { 'Content-Type': 'application/json' },
    })
  }

const details = '{"reference_survey":null,"background_checks":[]}'
export const packageJson = (at: number): string =>
  `{"id":${at + 1},"name":"Package ${at + 1}","status":"ACTIVE","details":${details}}`

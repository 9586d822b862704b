import { expect, test } from 'vitest'

import { errorReasonOf } from '../../../src/domain/webhook/error-reason.ts'

const said = (text: string): string | undefined => errorReasonOf(new TextEncoder().encode(text))

test('the reason of an event, where it says one', () => {
  expect(said('{"status":"ERROR","error_reason":"no such partner"}')).toBe('no such partner')
  for (const body of ['{}', 'null', '[]', '3', '"x"', '', '{', '{"error_reason":7}', '{"error_reason":""}']) {
    expect(said(body)).toBeUndefined()
  }
  expect(errorReasonOf(Uint8Array.of(0xff))).toBeUndefined()
})

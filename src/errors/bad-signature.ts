import { RefcheckError } from './base.ts'

/** A webhook signature that does not match the bytes. */
export class BadSignatureError extends RefcheckError {
  override readonly code = 'bad_signature'
}

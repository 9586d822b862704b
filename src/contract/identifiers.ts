import { z } from 'zod'

/** A UUID of any version; the document promises no version ("Request", "Check"). */
export const uuid = z.guid()

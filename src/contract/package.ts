import { z } from 'zod'

/** "Package status". */
export const packageStatuses = ['ACTIVE', 'INACTIVE', 'DISABLED'] as const

/** "Package". Unknown keys and unknown statuses are accepted, because a newer server may add some. */
export const packageResource = z.looseObject({
  id: z.int(),
  name: z.string(),
  status: z.string(),
  details: z.looseObject({
    reference_survey: z
      .looseObject({ id: z.int(), name: z.string().nullable(), min_referees: z.int() })
      .nullable(),
    background_checks: z.array(
      z.looseObject({ check_name: z.string().nullable(), partner_name: z.string().nullable() }),
    ),
  }),
})

export type Package = z.infer<typeof packageResource>

/** `data` of GET /v1/packages. */
export const packageList = z.looseObject({ packages: z.array(packageResource) })

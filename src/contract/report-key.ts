/**
 * What tells two reports apart: the check, and the referee for a reference ("GET /v1/reports/…"). A
 * text no ids can forge, whatever characters they hold.
 */
export function reportKey(checkId: string | null, refereeId: string | null | undefined): string {
  return JSON.stringify([checkId, refereeId ?? null])
}

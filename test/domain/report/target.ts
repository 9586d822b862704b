import type { ReportTarget } from '../../../src/domain/report/source.ts'

/** A completed background check of a fictional person. */
export const policeCheck: ReportTarget = {
  service: 'https://api.example.com',
  requestId: '3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55',
  packageId: 101,
  createdAt: '2026-11-20T23:30:00-05:00',
  checkId: '8fdec42c-8142-447a-94bd-92a51a5554a7',
  refereeId: undefined,
  refereeName: undefined,
  title: 'National police check',
  person: { firstName: 'Tomás', lastName: "O'Brien", email: 'tomas@example.com' },
  url: undefined,
  status: 'COMPLETED',
}

/** Agencies: who looks after several sites, and how many they may have. */
import { newId } from '@strongroom/kit/ids'
import * as z from 'zod'
import { AgencyId, Count, Email, IsoTime, key, Sha256 } from './formats.ts'

export const AgencyStatus = z.enum(['active', 'suspended'])
export type AgencyStatus = z.infer<typeof AgencyStatus>

export const AgencyItem = z.object({
  PK: key('AGENCY#'),
  SK: z.literal('INFO'),
  GSI1PK: key('AGENCY_META#'),
  GSI1SK: z.enum(['ACTIVE', 'SUSPENDED']),
  GSI2PK: z.enum(['AGENCIES#active', 'AGENCIES#suspended']),
  GSI2SK: z.string(),
  agency_id: AgencyId,
  agency_name: z.string().min(1).max(200),
  contact_email: Email,
  max_sites: Count,
  current_sites: Count,
  created_at: IsoTime,
  status: AgencyStatus,
  api_key_hash: Sha256,
})
export type Agency = z.infer<typeof AgencyItem>

/** What GSI2 holds of one. */
export const AgencySummaryItem = AgencyItem.omit({
  GSI1PK: true,
  GSI1SK: true,
  api_key_hash: true,
})
export type AgencySummary = z.infer<typeof AgencySummaryItem>

const statusKeys = {
  active: { GSI1SK: 'ACTIVE', GSI2PK: 'AGENCIES#active' },
  suspended: { GSI1SK: 'SUSPENDED', GSI2PK: 'AGENCIES#suspended' },
} as const

export function agencyStatusKeysOf(status: AgencyStatus) {
  return statusKeys[status]
}

export function agencyKey(agency_id: string) {
  return { PK: `AGENCY#${agency_id}`, SK: 'INFO' } as const
}

export function newAgencyId(): string {
  return newId('agency')
}

/** Under a prefix of its own, so that an agency's key can never pass for a site's. */
export const AgencyKeyItem = z.object({
  PK: z.string().regex(/^AGENCY_API#[0-9a-f]{64}$/),
  SK: z.literal('LOOKUP'),
  agency_id: AgencyId,
  created_at: IsoTime,
})

export function agencyKeyKey(api_key_hash: string) {
  return { PK: `AGENCY_API#${api_key_hash}`, SK: 'LOOKUP' } as const
}

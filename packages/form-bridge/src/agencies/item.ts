/** Agencies, their keys, the sites that belong to them, and the join tokens that let sites in. */
import { newId } from '@strongroom/kit/ids'
import * as z from 'zod'
import {
  AgencyId,
  Count,
  Domain,
  Email,
  EpochSecond,
  IsoTime,
  key,
  Sha256,
  SiteId,
} from '../formats.ts'

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

/** The part of an agency in GSI2. */
export const AgencySummaryItem = AgencyItem.omit({
  GSI1PK: true,
  GSI1SK: true,
  api_key_hash: true,
})
export type AgencySummary = z.infer<typeof AgencySummaryItem>

const STATUS_KEYS = {
  active: { GSI1SK: 'ACTIVE', GSI2PK: 'AGENCIES#active' },
  suspended: { GSI1SK: 'SUSPENDED', GSI2PK: 'AGENCIES#suspended' },
} as const

/** The index keys that change with the status. */
export function agencyStatusKeys(status: AgencyStatus) {
  return STATUS_KEYS[status]
}

export function agencyKey(agency_id: string) {
  return { PK: `AGENCY#${agency_id}`, SK: 'INFO' } as const
}

export function newAgencyId(): string {
  return newId('agency')
}

/** Has its own prefix, so the key of an agency is never accepted as the key of a site. */
export const AgencyApiKeyItem = z.object({
  PK: z.string().regex(/^AGENCY_API#[0-9a-f]{64}$/),
  SK: z.literal('LOOKUP'),
  agency_id: AgencyId,
  created_at: IsoTime,
})

export function agencyApiKeyKey(api_key_hash: string) {
  return { PK: `AGENCY_API#${api_key_hash}`, SK: 'LOOKUP' } as const
}

export const AgencyRole = z.enum(['owner', 'member', 'viewer'])
export type AgencyRole = z.infer<typeof AgencyRole>

export type AgencyAction = 'confirm' | 'set_destination' | 'remove'

/** Which roles allow the key of an agency to do something with a site. */
export const ROLES_THAT_MAY: Record<AgencyAction, readonly AgencyRole[]> = {
  confirm: ['owner', 'member'],
  set_destination: ['owner'],
  remove: ['owner'],
}

/** A site of an agency. */
export const AgencySiteItem = z.object({
  PK: key('AGENCY#'),
  SK: key('SITE#'),
  GSI1PK: key('SITE#'),
  GSI1SK: key('AGENCY#'),
  agency_id: AgencyId,
  site_id: SiteId,
  domain: Domain,
  added_at: IsoTime,
  role: AgencyRole,
  /** A staging site, which does not count against `max_sites`. */
  outside_limit: z.boolean().optional(),
})
export type AgencySite = z.infer<typeof AgencySiteItem>

export type MembershipName = Pick<AgencySite, 'agency_id' | 'site_id'>

export function agencySiteKey({ agency_id, site_id }: MembershipName) {
  return { PK: `AGENCY#${agency_id}`, SK: `SITE#${site_id}` }
}

/** The same membership in the partition of the site, so it is read consistently, without an index. */
export const SiteMembershipItem = z.object({
  PK: key('SITEID#'),
  SK: key('AGENCY#'),
  site_id: SiteId,
  agency_id: AgencyId,
})

export function siteMembershipKey({ agency_id, site_id }: MembershipName) {
  return { PK: `SITEID#${site_id}`, SK: `AGENCY#${agency_id}` }
}

/** Lets a site join the agency when it registers. The token contains the id of its agency. */
export const JoinTokenItem = z.object({
  PK: key('AGENCY#'),
  SK: key('JOIN#'),
  agency_id: AgencyId,
  token_hash: Sha256,
  role: AgencyRole,
  max_uses: z.int().min(1),
  uses: Count,
  created_at: IsoTime,
  expires_at: IsoTime,
  ttl: EpochSecond,
})
export type JoinToken = z.infer<typeof JoinTokenItem>

export type JoinTokenName = Pick<JoinToken, 'agency_id' | 'token_hash'>

export function joinTokenKey({ agency_id, token_hash }: JoinTokenName) {
  return { PK: `AGENCY#${agency_id}`, SK: `JOIN#${token_hash}` }
}

/** A registration: a site claims a domain and has one hour to prove it. */
import * as z from 'zod'
import {
  AgencyId,
  ClientIp,
  Domain,
  Email,
  EpochSecond,
  IsoTime,
  key,
  RegistrationId,
  Sha256,
  Version,
} from '../formats.ts'
import { SiteEnvironment } from '../sites/item.ts'

/** In the order in which they are tried. */
export const ProofMethod = z.enum(['rest', 'rest_query', 'well_known', 'meta', 'dns'])
export type ProofMethod = z.infer<typeof ProofMethod>

export const RegistrationStatus = z.enum(['pending', 'active', 'expired'])

export const RegistrationItem = z.object({
  PK: key('SITE#'),
  SK: key('REG#'),
  GSI1PK: key('TEMP#'),
  GSI1SK: z.enum(['STATUS#pending', 'STATUS#active', 'STATUS#expired']),
  /** Only while it is pending. */
  GSI2PK: z.literal('REGS#pending').optional(),
  GSI2SK: z.string().optional(),
  registration_id: RegistrationId,
  domain: Domain,
  /** A hash, so a reader of the table cannot exchange the registration. */
  temp_key: Sha256,
  status: RegistrationStatus,
  wp_version: Version,
  plugin_version: Version,
  admin_email: Email.optional(),
  agency_id: AgencyId.optional(),
  /** The join token that it was registered with; the exchange uses it up. */
  join_token_hash: Sha256.optional(),
  environment: SiteEnvironment.optional(),
  /** Set by a proof in the background, for the next call of the site. */
  proved_by: ProofMethod.optional(),
  proved_at: IsoTime.optional(),
  client_ip: ClientIp,
  created_at: IsoTime,
  expires_at: IsoTime,
  ttl: EpochSecond,
})
export type Registration = z.infer<typeof RegistrationItem>

/** The part of a registration in GSI2. */
export const PendingRegistrationItem = RegistrationItem.pick({
  PK: true,
  SK: true,
  registration_id: true,
  domain: true,
  status: true,
  agency_id: true,
  created_at: true,
  expires_at: true,
  ttl: true,
}).extend({ GSI2PK: z.literal('REGS#pending'), GSI2SK: z.string() })
export type PendingRegistration = z.infer<typeof PendingRegistrationItem>

export const PENDING_REGISTRATIONS = 'REGS#pending'

export type RegistrationName = Pick<Registration, 'domain' | 'registration_id'>

export function registrationKey({ domain, registration_id }: RegistrationName) {
  return { PK: `SITE#${domain}`, SK: `REG#${registration_id}` }
}

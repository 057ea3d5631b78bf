import type { EntityModel } from '@strongroom/kit/data-model'
import { AbuseItem } from '../items/abuse.ts'
import { AgencyItem, AgencyKeyItem } from '../items/agency.ts'
import { AgencySiteItem, SitePlaceItem } from '../items/agency-site.ts'
import { ApiKeyItem } from '../items/api-key.ts'
import { JoinTokenItem } from '../items/join-token.ts'
import { NonceItem } from '../items/nonce.ts'
import { RateBucketItem, RateOverrideItem, RateWindowItem } from '../items/rate.ts'
import { RegistrationItem } from '../items/registration.ts'
import { PackageChunkItem, ReleaseItem, VersionCacheItem } from '../items/release.ts'
import { SecurityEventItem } from '../items/security-event.ts'
import { SiteItem } from '../items/site.ts'
import { DomainOwnerItem, SiteIdItem } from '../items/site-names.ts'
import { AdoptionItem, SiteVersionItem, UpdateCheckItem } from '../items/update-check.ts'
import { ValidationItem } from '../items/validation.ts'
import { formBridgeTable as table } from '../table.ts'

export const entities: readonly EntityModel[] = [
  {
    name: 'Temporary registration',
    table,
    keys: {
      PK: 'SITE#{domain}',
      SK: 'REG#{registration_id}',
      GSI1PK: 'TEMP#{temp_key}',
      GSI1SK: 'STATUS#{status}',
      GSI2PK: 'REGS#pending',
      GSI2SK: '{created_at}#{registration_id}',
    },
    schema: RegistrationItem,
    lifetime: '1 hour',
  },
  {
    name: 'Site credentials',
    table,
    keys: {
      PK: 'SITE#{domain}',
      SK: 'CREDS#{site_id}',
      GSI1PK: 'SITE#{site_id}',
      GSI1SK: 'ACTIVE, SUSPENDED or DISABLED',
      GSI2PK: 'SITES#{status}',
      GSI2SK: '{created_at}#{site_id}',
    },
    schema: SiteItem,
  },
  {
    name: 'Owner of a domain',
    table,
    keys: { PK: 'SITE#{domain}', SK: 'OWNER' },
    schema: DomainOwnerItem,
  },
  {
    name: 'Domain of a site',
    table,
    keys: { PK: 'SITEID#{site_id}', SK: 'DOMAIN' },
    schema: SiteIdItem,
  },
  {
    name: 'API key lookup',
    table,
    keys: {
      PK: 'API#{api_key_hash}',
      SK: 'LOOKUP',
      GSI1PK: 'SITE#{site_id}',
      GSI1SK: 'API_KEY',
    },
    schema: ApiKeyItem,
    lifetime: 'until it is rotated away and its grace period is over',
  },
  {
    name: 'Used nonce',
    table,
    keys: { PK: 'NONCE#{site_id}', SK: '{timestamp}#{nonce}' },
    schema: NonceItem,
    lifetime: '10 minutes from the time that was signed',
  },
  {
    name: 'Rate limit window',
    table,
    keys: { PK: 'RATE#{scope}#{id}', SK: 'WINDOW' },
    schema: RateWindowItem,
    lifetime: 'twice the longest of its limits',
  },
  {
    name: 'Rate limit bucket',
    table,
    keys: { PK: 'RATE#{scope}#{id}', SK: 'TIME#{window}#{timestamp}' },
    schema: RateBucketItem,
    lifetime: '24 hours, of registrations 5 minutes, from the end of the bucket',
  },
  {
    name: 'Rate limit override',
    table,
    keys: {
      PK: 'RATE#{scope}#{id}',
      SK: 'OVERRIDE',
      GSI2PK: 'RATE_OVERRIDES',
      GSI2SK: '{scope}#{id}',
    },
    schema: RateOverrideItem,
  },
  {
    name: 'Validation cache',
    table,
    keys: {
      PK: 'VALIDATION#{domain}',
      SK: 'RESULT',
      GSI1PK: 'REG#{registration_id}',
      GSI1SK: 'VALIDATION',
    },
    schema: ValidationItem,
    lifetime: '24 hours',
  },
  {
    name: 'Version cache',
    table,
    keys: {
      PK: 'PLUGIN_VERSION#latest',
      SK: 'INFO',
      GSI1PK: 'VERSION#{version}',
      GSI1SK: 'RELEASE',
    },
    schema: VersionCacheItem,
    lifetime: '2 hours',
  },
  {
    name: 'Plugin release',
    table,
    keys: { PK: 'PLUGIN#{slug}', SK: 'VERSION#{version}' },
    schema: ReleaseItem,
  },
  {
    name: 'Chunk of a package',
    table,
    keys: { PK: 'PACKAGE#{slug}#{version}', SK: '{nnnn}' },
    schema: PackageChunkItem,
  },
  {
    name: 'Update check',
    table,
    keys: { PK: 'UPDATE_CHECK#{site_id}', SK: 'TIME#{checked_at}#{ulid}' },
    schema: UpdateCheckItem,
    lifetime: '90 days',
  },
  {
    name: 'Version of a site',
    table,
    keys: {
      PK: 'UPDATE_CHECK#{site_id}',
      SK: 'CURRENT',
      GSI1PK: 'UPDATES#{current_version}',
      GSI1SK: 'SITE#{site_id}',
    },
    schema: SiteVersionItem,
    lifetime: '90 days from its last check',
  },
  {
    name: 'Adoption of a day',
    table,
    keys: { PK: 'ADOPTION#{date}', SK: 'VERSION#{version}' },
    schema: AdoptionItem,
  },
  {
    name: 'Security event',
    table,
    keys: {
      PK: 'FAILED#{site_id}, or FAILED#unknown#{client_ip}',
      SK: 'TIME#{timestamp}#{ulid}',
      GSI1PK: 'SECURITY#{event_type}#{date}#{shard}',
      GSI1SK: 'TIME#{timestamp}#{ulid}',
    },
    schema: SecurityEventItem,
    lifetime: '30 days',
  },
  {
    name: 'Abuse pattern',
    table,
    keys: {
      PK: 'ABUSE#{pattern_type}',
      SK: '{identifier}#{detected_at}#{ulid}',
      GSI1PK: 'ABUSE_TRACKING#{identifier}',
      GSI1SK: 'TIME#{detected_at}#{ulid}',
      GSI2PK: 'ABUSE#{pattern_type}',
      GSI2SK: '{detected_at}#{ulid}',
    },
    schema: AbuseItem,
    lifetime: '1, 7, 30 or 90 days, by severity low, medium, high, critical',
  },
  {
    name: 'Agency',
    table,
    keys: {
      PK: 'AGENCY#{agency_id}',
      SK: 'INFO',
      GSI1PK: 'AGENCY_META#{agency_id}',
      GSI1SK: 'ACTIVE or SUSPENDED',
      GSI2PK: 'AGENCIES#{status}',
      GSI2SK: '{created_at}#{agency_id}',
    },
    schema: AgencyItem,
  },
  {
    name: 'Agency key lookup',
    table,
    keys: { PK: 'AGENCY_API#{api_key_hash}', SK: 'LOOKUP' },
    schema: AgencyKeyItem,
  },
  {
    name: 'Site of an agency',
    table,
    keys: {
      PK: 'AGENCY#{agency_id}',
      SK: 'SITE#{site_id}',
      GSI1PK: 'SITE#{site_id}',
      GSI1SK: 'AGENCY#{agency_id}',
    },
    schema: AgencySiteItem,
  },
  {
    name: 'Place of a site in an agency',
    table,
    keys: { PK: 'SITEID#{site_id}', SK: 'AGENCY#{agency_id}' },
    schema: SitePlaceItem,
  },
  {
    name: 'Join token',
    table,
    keys: { PK: 'AGENCY#{agency_id}', SK: 'JOIN#{token_hash}' },
    schema: JoinTokenItem,
    lifetime: 'as its agency chose',
  },
]

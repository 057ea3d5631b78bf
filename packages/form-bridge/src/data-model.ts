/** The entities of the table, for docs/data-model.md and the IAM policies. */
import type { DataModel, EntityModel } from '@strongroom/kit/data-model'
import {
  AgencyItem,
  AgencyApiKeyItem,
  AgencySiteItem,
  JoinTokenItem,
  SiteMembershipItem,
} from './agencies/item.ts'
import { functions } from './iam.ts'
import { RateBucketItem, RateOverrideItem, RateWindowItem } from './limits/item.ts'
import { RegistrationItem } from './registrations/item.ts'
import { PackageChunkItem, ReleaseItem, VersionCacheItem } from './releases/item.ts'
import { AbuseItem, SecurityEventItem } from './security/item.ts'
import {
  ApiKeyItem,
  ApprovedMoveItem,
  DomainOwnerItem,
  NonceItem,
  SiteIdItem,
  SiteItem,
} from './sites/item.ts'
import { formBridgeTable as table } from './tables.ts'
import { AdoptionItem, SiteVersionItem, UpdateCheckItem } from './updates/item.ts'
import { ValidationItem } from './validations/item.ts'

const entities: readonly EntityModel[] = [
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
    name: 'Domain owner',
    table,
    keys: { PK: 'SITE#{domain}', SK: 'OWNER' },
    schema: DomainOwnerItem,
  },
  {
    name: 'Site id lookup',
    table,
    keys: { PK: 'SITEID#{site_id}', SK: 'DOMAIN' },
    schema: SiteIdItem,
  },
  {
    name: 'Approved move',
    table,
    keys: { PK: 'SITE#{domain}', SK: 'MOVE' },
    schema: ApprovedMoveItem,
    lifetime: '24 hours',
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
    lifetime: 'until the grace period of its rotation ends',
  },
  {
    name: 'Used nonce',
    table,
    keys: { PK: 'NONCE#{site_id}', SK: '{timestamp}#{nonce}' },
    schema: NonceItem,
    lifetime: '10 minutes from the signed timestamp',
  },
  {
    name: 'Rate limit window',
    table,
    keys: { PK: 'RATE#{scope}#{id}', SK: 'WINDOW' },
    schema: RateWindowItem,
    lifetime: 'twice its longest limit',
  },
  {
    name: 'Rate limit bucket',
    table,
    keys: { PK: 'RATE#{scope}#{id}', SK: 'TIME#{window}#{timestamp}' },
    schema: RateBucketItem,
    lifetime: '24 hours from the end of the bucket; 5 minutes for registrations',
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
    name: 'Package chunk',
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
    name: 'Site version',
    table,
    keys: {
      PK: 'UPDATE_CHECK#{site_id}',
      SK: 'CURRENT',
      GSI1PK: 'UPDATES#{current_version}',
      GSI1SK: 'SITE#{site_id}',
    },
    schema: SiteVersionItem,
    lifetime: '90 days from the last check',
  },
  {
    name: 'Daily adoption',
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
    schema: AgencyApiKeyItem,
  },
  {
    name: 'Agency site',
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
    name: 'Site membership',
    table,
    keys: { PK: 'SITEID#{site_id}', SK: 'AGENCY#{agency_id}' },
    schema: SiteMembershipItem,
  },
  {
    name: 'Join token',
    table,
    keys: { PK: 'AGENCY#{agency_id}', SK: 'JOIN#{token_hash}' },
    schema: JoinTokenItem,
    lifetime: 'chosen by the agency',
  },
]

export const dataModel: DataModel = {
  service: 'Form-Bridge',
  entities,
  functions,
}

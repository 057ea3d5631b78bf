/** Agencies, their sites and their join tokens. */
import type { PatternRow } from './row.ts'

export const patternsOfAgencies: readonly PatternRow[] = [
  [
    'Create an agency',
    'store/agencies.ts: create',
    'one transaction: AGENCY#{agency_id} INFO, AGENCY_API#',
  ],
  ['Get an agency', 'store/agencies.ts: get', 'PK = AGENCY#{agency_id}, SK = INFO'],
  [
    'Validate an agency key',
    'store/agencies.ts: ofKey',
    'PK = AGENCY_API#{api_key_hash}, SK = LOOKUP, then INFO; consistent',
  ],
  [
    'Replace an agency key',
    'store/agencies.ts: replaceKey',
    'one transaction: AGENCY#{agency_id} INFO, AGENCY_API#',
  ],
  [
    'Find an active agency',
    'store/agencies.ts: findActive',
    'GSI1PK = AGENCY_META#{agency_id}, GSI1SK = ACTIVE',
    'GSI1',
  ],
  ['List agencies', 'store/agencies.ts: list', 'GSI2PK = AGENCIES#{status}', 'GSI2'],
  [
    'Set the limit of an agency',
    'store/agencies.ts: setLimit',
    'PK = AGENCY#{agency_id}, SK = INFO',
  ],
  [
    'Suspend or resume an agency',
    'store/agencies.ts: setStatus',
    'PK = AGENCY#{agency_id}, SK = INFO',
  ],
  [
    'Join an agency',
    'store/agencies.ts: join',
    'one transaction: INFO if current_sites < max_sites, SITE#{site_id}, SITEID#, JOIN#{token_hash}',
  ],
  [
    'Take a site out of an agency’s limit',
    'store/agencies.ts: setOutsideLimit',
    'one transaction: AGENCY# / SITE#, AGENCY# / INFO',
  ],
  [
    'See whether a site is an agency’s',
    'store/agencies.ts: isMember',
    'PK = AGENCY#{agency_id}, SK = SITE#{site_id}',
  ],
  ['Leave an agency', 'store/agencies.ts: leave', 'one transaction: INFO, SITE#{site_id}, SITEID#'],
  [
    'Get all sites for agency',
    'store/agencies.ts: sites',
    'PK = AGENCY#{agency_id}, SK begins_with SITE#',
  ],
  [
    'Find agency for site',
    'store/agencies.ts: ofSite',
    'GSI1PK = SITE#{site_id}, GSI1SK begins_with AGENCY#',
    'GSI1',
  ],
  [
    'Get the places of a site',
    'store/places.ts: of',
    'PK = SITEID#{site_id}, SK begins_with AGENCY#, then AGENCY#; consistent; if there is none, GSI1 says where to look',
  ],
  [
    'Give a place back',
    'store/places.ts: leaving',
    'parts of a transaction: INFO, SITE#{site_id}, SITEID#',
  ],
  [
    'Make a join token',
    'store/join-tokens.ts: create',
    'PK = AGENCY#{agency_id}, SK = JOIN#{token_hash}',
  ],
  [
    'Get a join token',
    'store/join-tokens.ts: get',
    'PK = AGENCY#{agency_id}, SK = JOIN#{token_hash}',
  ],
  [
    'List join tokens',
    'store/join-tokens.ts: list',
    'PK = AGENCY#{agency_id}, SK begins_with JOIN#',
  ],
  [
    'Revoke a join token',
    'store/join-tokens.ts: revoke',
    'PK = AGENCY#{agency_id}, SK = JOIN#{token_hash}',
  ],
]

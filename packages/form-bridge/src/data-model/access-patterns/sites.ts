/** How sites are registered, connected, known and changed. */
import type { PatternRow } from './row.ts'

export const patternsOfSites: readonly PatternRow[] = [
  ['Register', 'store/registrations.ts: create', 'PK = SITE#{domain}, SK = REG#{registration_id}'],
  [
    'Get one registration',
    'store/registrations.ts: get',
    'PK = SITE#{domain}, SK = REG#{registration_id}',
  ],
  [
    'Get registration by domain',
    'store/registrations.ts: ofDomain',
    'PK = SITE#{domain}, SK begins_with REG#',
  ],
  [
    'Find registration by temp key',
    'store/registrations.ts: findByTempKey',
    'GSI1PK = TEMP#{temp_key}',
    'GSI1',
  ],
  [
    'List pending registrations',
    'store/registrations.ts: listPending',
    'GSI2PK = REGS#pending, GSI2SK >= {an hour ago}',
    'GSI2',
  ],
  [
    'Note that a domain was proved',
    'store/registrations.ts: prove',
    'PK = SITE#{domain}, SK = REG#{registration_id}',
  ],
  [
    'End a pending registration',
    'store/registrations.ts: expire',
    'PK = SITE#{domain}, SK = REG#{registration_id}',
  ],
  [
    'Exchange a registration for credentials',
    'store/connections.ts: connect',
    'one transaction: REG#, OWNER, CREDS#, SITEID#, API#, and AGENCY# if one is named',
  ],
  [
    'Reconnect the site of a domain',
    'store/connections.ts: reconnect',
    'one transaction: REG#, OWNER, CREDS#, API#, and AGENCY# if it joins one',
  ],
  [
    'Move a site to another domain',
    'store/connections.ts: move',
    'one transaction: REG#, OWNER, CREDS#, SITEID#, API#, and AGENCY# where it has a place',
  ],
  [
    'Rotate keys with a grace period',
    'store/rotation.ts: rotate',
    'one transaction: CREDS# if key_version is as read, API#',
  ],
  ['Get credentials by domain', 'store/sites.ts: get', 'PK = SITE#{domain}, SK = CREDS#{site_id}'],
  [
    'Get the site that a domain has',
    'store/sites.ts: ofDomain',
    'PK = SITE#{domain}, SK = OWNER, then CREDS#{site_id}',
  ],
  [
    'Get all sites that a domain had',
    'store/sites.ts: allOfDomain',
    'PK = SITE#{domain}, SK begins_with CREDS#',
  ],
  [
    'Find active site by site_id',
    'store/sites.ts: findActive',
    'GSI1PK = SITE#{site_id}, GSI1SK = ACTIVE',
    'GSI1',
  ],
  ['List all active sites', 'store/sites.ts: list', 'GSI2PK = SITES#{status}', 'GSI2'],
  [
    'Find API keys by site',
    'store/sites.ts: apiKeys',
    'GSI1PK = SITE#{site_id}, GSI1SK = API_KEY',
    'GSI1',
  ],
  ['Note requests of a site', 'store/sites.ts: touch', 'PK = SITE#{domain}, SK = CREDS#{site_id}'],
  [
    'Set where submissions go',
    'store/sites.ts: setDestination',
    'PK = SITE#{domain}, SK = CREDS#{site_id}',
  ],
  [
    'Confirm a site that was reconnected',
    'store/sites.ts: confirm',
    'PK = SITE#{domain}, SK = CREDS#{site_id}',
  ],
  [
    'Note what a site says of itself',
    'store/sites.ts: noteState',
    'PK = SITE#{domain}, SK = CREDS#{site_id}',
  ],
  ['Suspend a site', 'store/sites.ts: suspend', 'PK = SITE#{domain}, SK = CREDS#{site_id}'],
  ['Resume a site', 'store/sites.ts: resume', 'PK = SITE#{domain}, SK = CREDS#{site_id}'],
  [
    'Disable a site',
    'store/sites.ts: disable',
    'one transaction: CREDS#, OWNER, and AGENCY# and SITEID# where it has a place',
  ],
  [
    'Validate API key',
    'store/authentication.ts: siteOfApiKey',
    'PK = API#{api_key_hash}, SK = LOOKUP, then CREDS#{site_id}; consistent',
  ],
  [
    'Find the site of a signed request',
    'store/authentication.ts: siteOfId',
    'PK = SITEID#{site_id}, SK = DOMAIN, then CREDS#{site_id}; consistent',
  ],
  [
    'Use a nonce once',
    'store/authentication.ts: useNonce',
    'PK = NONCE#{site_id}, SK = {timestamp}#{nonce}',
  ],
  [
    'Note the use of an API key',
    'store/authentication.ts: touchApiKey',
    'PK = API#{api_key_hash}, SK = LOOKUP',
  ],
]

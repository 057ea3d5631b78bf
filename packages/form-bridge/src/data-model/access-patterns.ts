import type { AccessPattern } from '@strongroom/kit/data-model'
import { formBridgeTable as table } from '../table.ts'

type Row = [name: string, servedBy: string, key: string, index?: 'GSI1' | 'GSI2']

const rows: Row[] = [
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
    'one transaction: REG#, OWNER, CREDS#, API#',
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
  ['Disable a site', 'store/sites.ts: disable', 'one transaction: CREDS#, OWNER'],
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
  ['Check rate limits for site', 'store/rates.ts: limiter', 'PK = RATE#{scope}#{id}, SK = WINDOW'],
  [
    'Count requests for analysis',
    'store/rates.ts: count',
    'PK = RATE#{scope}#{id}, SK = TIME#{window}#{start}',
  ],
  [
    'Time-based rate limit analysis',
    'store/rates.ts: analyse',
    'PK = RATE#{scope}#{id}, SK BETWEEN TIME#{window}#{start} AND TIME#{window}#{end}',
  ],
  [
    'Set limits for one caller',
    'store/rates.ts: setOverride',
    'PK = RATE#{scope}#{id}, SK = OVERRIDE',
  ],
  ['Get limits of one caller', 'store/rates.ts: override', 'PK = RATE#{scope}#{id}, SK = OVERRIDE'],
  [
    'Remove limits of one caller',
    'store/rates.ts: removeOverride',
    'PK = RATE#{scope}#{id}, SK = OVERRIDE',
  ],
  [
    'List callers with limits of their own',
    'store/rates.ts: listOverrides',
    'GSI2PK = RATE_OVERRIDES',
    'GSI2',
  ],
  ['Remember a validation', 'store/validations.ts: put', 'PK = VALIDATION#{domain}, SK = RESULT'],
  [
    'Get validation for domain',
    'store/validations.ts: get',
    'PK = VALIDATION#{domain}, SK = RESULT',
  ],
  [
    'Find validation by registration',
    'store/validations.ts: findByRegistration',
    'GSI1PK = REG#{registration_id}, GSI1SK = VALIDATION',
    'GSI1',
  ],
  [
    'Remember the newest version',
    'store/version-cache.ts: put',
    'PK = PLUGIN_VERSION#latest, SK = INFO',
  ],
  [
    'Get the newest version',
    'store/version-cache.ts: latest',
    'PK = PLUGIN_VERSION#latest, SK = INFO',
  ],
  [
    'Find a cached version',
    'store/version-cache.ts: find',
    'GSI1PK = VERSION#{version}, GSI1SK = RELEASE',
    'GSI1',
  ],
  [
    'Forget the newest version',
    'store/version-cache.ts: clear',
    'PK = PLUGIN_VERSION#latest, SK = INFO',
  ],
  [
    'Publish a release',
    'store/releases.ts: publish',
    'PK = PLUGIN#{slug}, SK = VERSION#{version}; PK = PACKAGE#{slug}#{version}, SK = {nnnn}',
  ],
  ['Get a release', 'store/releases.ts: get', 'PK = PLUGIN#{slug}, SK = VERSION#{version}'],
  ['List releases', 'store/releases.ts: list', 'PK = PLUGIN#{slug}, SK begins_with VERSION#'],
  [
    'Withdraw a release',
    'store/releases.ts: withdraw',
    'PK = PLUGIN#{slug}, SK = VERSION#{version}',
  ],
  [
    'Download a package',
    'store/releases.ts: package',
    'PK = PACKAGE#{slug}#{version}, SK = {nnnn}',
  ],
  [
    'Record an update check',
    'store/update-checks.ts: record',
    'one transaction: UPDATE_CHECK#{site_id} TIME# and CURRENT, ADOPTION#{date}',
  ],
  [
    'Get update history for site',
    'store/update-checks.ts: history',
    'PK = UPDATE_CHECK#{site_id}, SK BETWEEN TIME#{from} AND TIME#{to}',
  ],
  [
    'Find sites checking specific version',
    'store/update-checks.ts: sitesOn',
    'GSI1PK = UPDATES#{version}',
    'GSI1',
  ],
  [
    'Track update adoption of a site',
    'store/update-checks.ts: current',
    'PK = UPDATE_CHECK#{site_id}, SK = CURRENT',
  ],
  [
    'Track update adoption of the fleet',
    'store/update-checks.ts: adoptionOn',
    'PK = ADOPTION#{date}',
  ],
  [
    'Record a security event',
    'store/security-events.ts: record',
    'PK = FAILED#{site_id}, SK = TIME#{timestamp}#{ulid}',
  ],
  [
    'Get failed attempts for site',
    'store/security-events.ts: of',
    'PK = FAILED#{site_id}, SK BETWEEN TIME#{from} AND TIME#{to}',
  ],
  [
    'Analyze security events by type and time',
    'store/security-events.ts: ofType',
    'GSI1PK = SECURITY#{event_type}#{date}#{shard}, GSI1SK BETWEEN TIME#{from} AND TIME#{to}',
    'GSI1',
  ],
  [
    'Record an abuse pattern',
    'store/abuse-patterns.ts: record',
    'PK = ABUSE#{pattern_type}, SK = {identifier}#{detected_at}#{ulid}',
  ],
  [
    'Forget a pattern of an identifier',
    'store/abuse-patterns.ts: clear',
    'PK = ABUSE#{pattern_type}, SK begins_with {identifier}#',
  ],
  [
    'Get a pattern of an identifier',
    'store/abuse-patterns.ts: of',
    'PK = ABUSE#{pattern_type}, SK begins_with {identifier}#',
  ],
  [
    'Track all patterns of an identifier',
    'store/abuse-patterns.ts: ofIdentifier',
    'GSI1PK = ABUSE_TRACKING#{identifier}, GSI1SK begins_with TIME#',
    'GSI1',
  ],
  [
    'List abuse patterns by type',
    'store/abuse-patterns.ts: ofType',
    'GSI2PK = ABUSE#{pattern_type}',
    'GSI2',
  ],
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
    'one transaction: INFO if current_sites < max_sites, SITE#{site_id}, JOIN#{token_hash}',
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
  ['Leave an agency', 'store/agencies.ts: leave', 'one transaction: INFO, SITE#{site_id}'],
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

export const accessPatterns: readonly AccessPattern[] = rows.map(
  ([name, servedBy, key, index]) => ({ name, servedBy, table, key, ...(index && { index }) }),
)

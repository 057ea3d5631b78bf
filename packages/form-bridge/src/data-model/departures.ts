export const departures = [
  {
    what: 'Lists that a sort key alone cannot give are in GSI2, which holds no secrets',
    decision: '0024-form-bridge-lists-in-gsi2.md',
  },
  {
    what: 'Keys by time end in a ULID',
    decision: '0025-form-bridge-time-keys-end-in-a-ulid.md',
  },
  {
    what: 'Rate limits are counted in one item for each caller and kind of request, and in buckets',
    decision: '0026-form-bridge-rate-counters.md',
  },
  {
    what: 'temp_key holds a hash',
    decision: '0027-form-bridge-temp-key-is-a-hash.md',
  },
  {
    what: 'Authentication reads the table; SITEID# and OWNER items name site and domain',
    decision: '0028-form-bridge-authentication-reads-the-table.md',
  },
  {
    what: 'Keys have versions, so that one rotation wins and revocation is immediate',
    decision: '0029-form-bridge-key-versions.md',
  },
  {
    what: 'Adoption goes by the installed version, one item for each site',
    decision: '0030-form-bridge-adoption-by-installed-version.md',
  },
  {
    what: 'Security events are indexed by type, day and shard',
    decision: '0031-form-bridge-security-events-are-sharded.md',
  },
  {
    what: 'Releases and packages are durable items; the seed has only a cache',
    decision: '0032-form-bridge-releases-and-packages.md',
  },
  {
    what: 'Agencies have a key and join tokens; staging sites do not use up the limit',
    decision: '0033-form-bridge-agency-keys-and-join-tokens.md',
  },
  {
    what: 'The TTL attribute is ttl, and expiry is decided on read',
    decision: '0034-form-bridge-expiry-is-decided-on-read.md',
  },
  {
    what: 'The proof that a site publishes is not its temporary key',
    decision: '0060-form-bridge-proof-of-a-domain.md',
  },
  {
    what: 'Signatures are checked with webhook_secret, which is sealed',
    decision: '0062-form-bridge-signatures-and-keys.md',
  },
  {
    what: 'Registrations and credentials have attributes of their own',
    decision: '0067-form-bridge-attributes.md',
  },
  {
    what: 'What aims at a domain is counted for who asks, and in part for its host',
    decision: '0090-form-bridge-strangers-and-the-owner.md',
  },
  {
    what: 'The places of a site in agencies are items of its own, and end with it',
    decision: '0091-form-bridge-places-of-a-site.md',
  },
]

export const departures = [
  {
    what: 'Lists that a sort key alone cannot give are in GSI2, which holds no secrets',
    decision: 'form-bridge-lists-in-gsi2.md',
  },
  {
    what: 'Keys by time end in a ULID',
    decision: 'form-bridge-time-keys-end-in-a-ulid.md',
  },
  {
    what: 'Rate limits are counted in one item for each caller and kind of request, and in buckets',
    decision: 'form-bridge-rate-counters.md',
  },
  {
    what: 'temp_key holds a hash',
    decision: 'form-bridge-temp-key-is-a-hash.md',
  },
  {
    what: 'Authentication reads the table; SITEID# and OWNER items name site and domain',
    decision: 'form-bridge-authentication-reads-the-table.md',
  },
  {
    what: 'Keys have versions, so that one rotation wins and revocation is immediate',
    decision: 'form-bridge-key-versions.md',
  },
  {
    what: 'Adoption goes by the installed version, one item for each site',
    decision: 'form-bridge-adoption-by-installed-version.md',
  },
  {
    what: 'Security events are indexed by type, day and shard',
    decision: 'form-bridge-security-events-are-sharded.md',
  },
  {
    what: 'Releases and packages are durable items; the seed has only a cache',
    decision: 'form-bridge-releases-and-packages.md',
  },
  {
    what: 'Agencies have a key and join tokens; staging sites do not use up the limit',
    decision: 'form-bridge-agency-keys-and-join-tokens.md',
  },
  {
    what: 'The TTL attribute is ttl, and expiry is decided on read',
    decision: 'form-bridge-expiry-is-decided-on-read.md',
  },
]

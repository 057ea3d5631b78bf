import type { ConfigTable, ConfigValues } from '@strongroom/kit/config'
import { integer, oneOf, text, url } from '@strongroom/kit/config-types'

const perMinute = () => integer({ min: 0, max: 1_000_000 })

export const sealedSettings = {
  SEALED_ORIGIN: {
    type: url({ originOnly: true }),
    description:
      'Separate origin for Sealed, so that the page that handles keys shares it with nothing else. Unless set, Sealed is served on PUBLIC_URL.',
  },
  SEALED_DIFFICULTY: {
    type: integer({ min: 0, max: 24 }),
    default: 18,
    description:
      'Proof-of-work difficulty of a secret of up to 1 KB, in bits. One more bit doubles the work.',
  },
  SEALED_DIFFICULTY_PER_DOUBLING: {
    type: integer({ min: 0, max: 4 }),
    default: 1,
    description:
      'Additional bits for each doubling of the size. If both are 0, no work is required.',
  },
  SEALED_BUSY_CREATIONS: {
    type: perMinute(),
    default: 60,
    description:
      'New secrets per minute from which the difficulty rises by one bit, and by one more with each doubling, up to 8. 0 disables this.',
  },
  SEALED_REQUESTS: {
    type: oneOf('anyone', 'api-token', 'off'),
    default: 'anyone',
    description:
      'Who can make links that ask for a secret: "anyone", "api-token" (only with an API token) or "off". Such a link leads to a page of this server, but the server does not know who made it.',
  },
  SEALED_TOKEN_LIMIT: {
    type: perMinute(),
    default: 10,
    description:
      'Tokens and new requests, and separately filled requests, per client and minute; 0 is no limit',
  },
  SEALED_API_TOKEN_LIMIT: {
    type: perMinute(),
    default: 600,
    description: 'Tokens per client and minute for clients that send an API token; 0 is no limit',
  },
  SEALED_REVEAL_LIMIT: {
    type: perMinute(),
    default: 60,
    description: 'Reveals, and separately acknowledgements, per client and minute; 0 is no limit',
  },
  SEALED_BURN_LIMIT: {
    type: perMinute(),
    default: 10,
    description: 'Burns per client and minute; 0 is no limit',
  },
  SEALED_STATUS_LIMIT: {
    type: perMinute(),
    default: 60,
    description: 'Receipts per client and minute; 0 is no limit',
  },
  SEALED_QUOTA_MB: {
    type: integer({ min: 0, max: 100_000_000 }),
    description:
      'Maximum megabytes of stored secrets; 0 is no limit. Counting them scans the whole table. Unless set, 1024, and 0 with STRONGROOM_STORE=aws, where reads cost money.',
  },
  SEALED_SWEEP_MINUTES: {
    type: integer({ min: 0, max: 1440 }),
    description:
      'Minutes between scans for secrets that were not ended on time, such as after the server was stopped; 0 leaves them to TTL. Unless set, 10, and 0 with STRONGROOM_STORE=aws.',
  },
  SEALED_TOKEN: {
    type: text(),
    secret: true,
    description:
      'API token with which "strongroom seal" needs no proof of work; not used by the server',
  },
} as const satisfies ConfigTable

export type SealedSettings = ConfigValues<typeof sealedSettings> & {
  readonly STRONGROOM_STORE?: string | undefined
}

/** Both scan the whole table. Off by default on AWS, where every read costs money. */
export function scanSettings(settings: SealedSettings): { quotaMb: number; sweepMinutes: number } {
  const hasPaidReads = settings.STRONGROOM_STORE === 'aws'
  return {
    quotaMb: settings.SEALED_QUOTA_MB ?? (hasPaidReads ? 0 : 1024),
    sweepMinutes: settings.SEALED_SWEEP_MINUTES ?? (hasPaidReads ? 0 : 10),
  }
}

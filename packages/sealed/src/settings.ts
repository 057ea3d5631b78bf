/** The settings of Sealed. A limit of 0 is none. */
import type { ConfigTable, ConfigValues } from '@strongroom/kit/config'
import { integer, url } from '@strongroom/kit/config-types'

const perMinute = () => integer({ min: 0, max: 1_000_000 })

export const sealedSettings = {
  SEALED_ORIGIN: {
    type: url({ originOnly: true }),
    description:
      'A host name for Sealed alone, so that the page that holds keys shares its origin with nothing; unless set, Sealed is found on PUBLIC_URL',
  },
  SEALED_DIFFICULTY: {
    type: integer({ min: 0, max: 24 }),
    default: 18,
    description:
      'The work that a new secret of up to 1 KB costs its sender, in bits: one more is twice the work',
  },
  SEALED_DIFFICULTY_PER_DOUBLING: {
    type: integer({ min: 0, max: 4 }),
    default: 1,
    description: 'How many bits each doubling of the size adds to that; both 0 ask for no work',
  },
  SEALED_BUSY_CREATIONS: {
    type: perMinute(),
    default: 60,
    description:
      'From how many new secrets a minute on the work rises: by one bit, and by one more with each doubling, up to 8; 0 never lets it rise',
  },
  SEALED_TOKEN_LIMIT: {
    type: perMinute(),
    default: 10,
    description: 'How many secrets a client may begin a minute; 0 is no limit',
  },
  SEALED_OPERATOR_TOKEN_LIMIT: {
    type: perMinute(),
    default: 600,
    description: 'The same for clients that send the token of an operator',
  },
  SEALED_REVEAL_LIMIT: {
    type: perMinute(),
    default: 60,
    description:
      'How often a client may ask for a secret a minute, and acknowledge one; 0 is no limit',
  },
  SEALED_BURN_LIMIT: {
    type: perMinute(),
    default: 10,
    description: 'How often a client may burn a secret a minute; 0 is no limit',
  },
  SEALED_STATUS_LIMIT: {
    type: perMinute(),
    default: 60,
    description: 'How often a client may ask for a receipt a minute; 0 is no limit',
  },
  SEALED_QUOTA_MB: {
    type: integer({ min: 0, max: 100_000_000 }),
    description:
      'How many megabytes of secrets are stored at most; 0 is no limit. Counting them reads the whole table now and then: unless set, 1024, and 0 with STRONGROOM_STORE=aws, where reading costs money',
  },
  SEALED_SWEEP_MINUTES: {
    type: integer({ min: 0, max: 1440 }),
    description:
      'How often the table is read for secrets that were not ended at their time, as after a stop of the server; 0 leaves them to TTL. Unless set, 10, and 0 with STRONGROOM_STORE=aws',
  },
} as const satisfies ConfigTable

export type SealedSettings = ConfigValues<typeof sealedSettings> & {
  readonly STRONGROOM_STORE?: string | undefined
}

/** What is done by reading the whole table: not on AWS unless told, because every read is paid for. */
export function tableReads(settings: SealedSettings): { quotaMb: number; sweepMinutes: number } {
  const isPaidFor = settings.STRONGROOM_STORE === 'aws'
  return {
    quotaMb: settings.SEALED_QUOTA_MB ?? (isPaidFor ? 0 : 1024),
    sweepMinutes: settings.SEALED_SWEEP_MINUTES ?? (isPaidFor ? 0 : 10),
  }
}

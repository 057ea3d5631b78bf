import { type ConfigTable, type ConfigValues, invalidConfig } from '@strongroom/kit/config'
import { type ConfigType, file, integer, oneOf, text, url } from '@strongroom/kit/config-types'
import type { SecretOptions } from './api.ts'
import {
  DEFAULT_TTL_SECONDS,
  DEFAULT_VIEWS,
  MAX_TTL_SECONDS,
  MAX_VIEWS,
  MIN_TTL_SECONDS,
} from './limits.ts'

const MINUTE = 60
const MAX_NAME_CHARS = 40

const expiry = () => integer({ min: MIN_TTL_SECONDS / MINUTE, max: MAX_TTL_SECONDS / MINUTE })
const views = () => integer({ min: 1, max: MAX_VIEWS })

function pageName(): ConfigType<string> {
  return {
    expects: `1 to ${MAX_NAME_CHARS} characters without control characters`,
    parse: (input) =>
      input !== '' && input.length <= MAX_NAME_CHARS && !/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(input)
        ? input
        : undefined,
    format: String,
  }
}

const perMinute = () => integer({ min: 0, max: 1_000_000 })

export const sealedSettings = {
  SEALED_ORIGIN: {
    type: url({ originOnly: true }),
    description:
      'Separate origin for Sealed, so that the page that handles keys shares it with nothing else. Unless set, Sealed is served on PUBLIC_URL.',
  },
  SEALED_NAME: {
    type: pageName(),
    default: 'Sealed',
    description: "Name of Sealed's page, in its header and title",
  },
  SEALED_LOGO: {
    type: file(),
    description:
      "Logo of Sealed's page: the path of an SVG or PNG of at most 256 KB, read at the start. Unless set, Strongroom's mark. Not on AWS Lambda, where functions have no files of yours.",
  },
  SEALED_DEFAULT_EXPIRY_MINUTES: {
    type: expiry(),
    description:
      'Minutes after which a secret expires unless its sender chooses. Unless set, 1440 (a day), or the maximum if that is less.',
  },
  SEALED_MAX_EXPIRY_MINUTES: {
    type: expiry(),
    default: MAX_TTL_SECONDS / MINUTE,
    description:
      'Maximum minutes after which a secret expires. Secrets that exist are not changed.',
  },
  SEALED_DEFAULT_VIEWS: {
    type: views(),
    default: DEFAULT_VIEWS,
    description: 'Number of views of a secret unless its sender chooses',
  },
  SEALED_MAX_VIEWS: {
    type: views(),
    default: MAX_VIEWS,
    description: 'Maximum number of views of a secret',
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

/** Throws if a default is above its maximum. */
export function secretOptions(settings: SealedSettings): SecretOptions {
  const maxTtlSeconds = settings.SEALED_MAX_EXPIRY_MINUTES * MINUTE
  const { SEALED_DEFAULT_EXPIRY_MINUTES: defaultMinutes } = settings
  const { SEALED_DEFAULT_VIEWS: defaultViews, SEALED_MAX_VIEWS: maxViews } = settings
  const defaultTtlSeconds =
    defaultMinutes === undefined
      ? Math.min(DEFAULT_TTL_SECONDS, maxTtlSeconds)
      : defaultMinutes * MINUTE
  const problems = [
    ...(defaultTtlSeconds > maxTtlSeconds
      ? ['SEALED_DEFAULT_EXPIRY_MINUTES must be at most SEALED_MAX_EXPIRY_MINUTES']
      : []),
    ...(defaultViews > maxViews ? ['SEALED_DEFAULT_VIEWS must be at most SEALED_MAX_VIEWS'] : []),
  ]
  if (problems.length > 0) throw invalidConfig(problems)
  return { defaultTtlSeconds, maxTtlSeconds, defaultViews, maxViews }
}

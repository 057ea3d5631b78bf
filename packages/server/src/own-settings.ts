/**
 * The settings of the server itself, without those of its services, so that a program with one service
 * does not load the others.
 */
import { isIPv6 } from 'node:net'
import { type Config, type ConfigTable, defineConfig } from '@strongroom/kit/config'
import {
  boolean,
  directory,
  file,
  host,
  integer,
  oneOf,
  port,
  text,
  trustedProxies,
  url,
} from '@strongroom/kit/config-types'
import { type CapacityLimits, defaultLimits } from '@strongroom/kit/http/capacity-limits'
import { noProxies } from '@strongroom/kit/http/client-address'
import { logLevels } from '@strongroom/kit/log'
import type { Service } from '@strongroom/kit/service'
import type { Settings } from './settings.ts'

const MEGABYTE = 1024 * 1024

const own = {
  PORT: { type: port(), default: 4280, description: 'Port to listen on; 0 chooses a free one' },
  HOST: { type: host(), default: '127.0.0.1', description: 'Address to listen on' },
  PUBLIC_URL: {
    type: url({ originOnly: true }),
    description: 'Public address of the server, for links and callbacks. Default: HOST and PORT.',
  },
  STRONGROOM_DATA: {
    type: directory(),
    default: './data',
    description: 'Data directory of the embedded store',
  },
  STRONGROOM_RECOVERY_DAYS: {
    type: integer({ min: 0, max: 35 }),
    default: 7,
    description:
      'Days for which tables of the embedded store can be restored to any moment. Each change is stored for that long; 0 disables it.',
  },
  STRONGROOM_STORE: {
    type: oneOf('embedded', 'aws'),
    description:
      'The embedded store, or DynamoDB in AWS_REGION. Default: aws inside Lambda, otherwise embedded.',
  },
  DYNAMODB_ENDPOINT: {
    type: url(),
    description: 'DynamoDB-compatible endpoint; overrides STRONGROOM_STORE',
  },
  AWS_REGION: { type: text(), description: 'Region of DynamoDB' },
  STRONGROOM_KMS: {
    type: oneOf('embedded', 'aws'),
    description:
      'The embedded KMS, or AWS KMS. Default: aws if the store is DynamoDB in AWS, otherwise embedded.',
  },
  KMS_ENDPOINT: {
    type: url(),
    description:
      'KMS-compatible endpoint, such as "strongroom kms serve"; overrides STRONGROOM_KMS',
  },
  KMS_KEY_ARN: {
    type: kmsKeyArn(),
    description: 'Encryption key in AWS KMS or at the endpoint',
  },
  STRONGROOM_MASTER_KEY_FILE: {
    type: file(),
    description:
      'Master key file of the embedded KMS. Put it on another volume. Default: keys/master.key in the data directory.',
  },
  STRONGROOM_MASTER_KEY_PASSPHRASE: {
    type: text(),
    secret: true,
    description: 'Passphrase of the master key, if it has one',
  },
  STRONGROOM_BOOTSTRAP_FILE: {
    type: file(),
    description:
      'File for the bootstrap code of a first start without a terminal; not in the data directory. Default: a private file in XDG_RUNTIME_DIR or the temporary directory.',
  },
  STRONGROOM_TABLE_PREFIX: {
    type: tablePrefix(),
    default: '',
    description: 'Prefix of all table names, so that deployments can share an account',
  },
  STRONGROOM_TRUSTED_PROXIES: {
    type: trustedProxies(),
    default: noProxies,
    description: 'Proxies that are trusted to report the address of a client',
  },
  STRONGROOM_MAX_CONNECTIONS: {
    type: integer({ min: 1, max: 1_000_000 }),
    default: defaultLimits.maxConnections,
    description: 'Connections that are open at the same time; more get 503 server.overloaded',
  },
  STRONGROOM_MAX_CONNECTIONS_PER_ADDRESS: {
    type: integer({ min: 1, max: 1_000_000 }),
    default: defaultLimits.maxConnectionsPerAddress,
    description:
      'Connections from one address that is not in STRONGROOM_TRUSTED_PROXIES. Of IPv6 it counts the /64; a /56 may have 4 times as many, a /48 16 times.',
  },
  STRONGROOM_MAX_BODY_MB: {
    type: integer({ min: 1, max: 100_000 }),
    default: defaultLimits.maxBodyBytes / MEGABYTE,
    description:
      'Megabytes of request bodies that are held at the same time; a request beyond them gets 413 server.body_overloaded',
  },
  STRONGROOM_MAX_REQUESTS: {
    type: integer({ min: 1, max: 1_000_000 }),
    default: defaultLimits.maxRequests,
    description:
      'Requests of each service that run at the same time; more get 503 server.overloaded',
  },
  STRONGROOM_MAX_HOT_REQUESTS: {
    type: integer({ min: 1, max: 1_000_000 }),
    default: defaultLimits.maxHotRequests,
    description:
      'Webhooks, and likewise requests to the API of Sealed, that are stored at the same time; more get 503 server.overloaded',
  },
  STRONGROOM_REQUIRE_2FA: {
    type: boolean(),
    default: false,
    description:
      'Require a second factor from admins who sign in to the console. Until they add one, their sessions can do nothing else. Tokens of programs are not affected.',
  },
  STRONGROOM_METRICS_PORT: {
    type: port(),
    description: 'Additional port of 127.0.0.1 that serves metrics without a token',
  },
  STRONGROOM_TOKEN: {
    type: text(),
    secret: true,
    description: 'Operator token for commands that call a server; not used by the server',
  },
  FERRYHOOK_API_KEY: {
    type: text(),
    secret: true,
    description:
      'Ferryhook API key for "strongroom sources", "connections", "events", "replays", "alerts" and "listen"; not used by the server',
  },
  FERRYHOOK_SIGNING_SECRET: {
    type: text(),
    secret: true,
    description:
      'Signing secret of a provider for "strongroom sources add" and "rotate"; not used by the server',
  },
  STRONGROOM_LOG_LEVEL: {
    type: oneOf(...logLevels),
    default: 'info',
    description: 'Lowest level that is logged',
  },
  STRONGROOM_SERVER: {
    type: url(),
    description:
      'Server that commands call without --server. If it is not set, "strongroom keys", "operator", "user" and "secrets" work on the store, "seal" tries SEALED_ORIGIN and PUBLIC_URL, and others call http://127.0.0.1:4280.',
  },
  STRONGROOM_PASSPHRASE: {
    type: text(),
    secret: true,
    description: 'Passphrase for "strongroom seal" and "strongroom open"',
  },
} as const satisfies ConfigTable

/** One table with all settings; a service reads its own from `config`. */
export function settingsWith(added: readonly Pick<Service, 'settings'>[]): Config<typeof own> {
  return defineConfig(Object.assign({}, own, ...added.map((service) => service.settings)))
}

export function capacityLimits(values: Settings): CapacityLimits {
  return {
    maxConnections: values.STRONGROOM_MAX_CONNECTIONS,
    maxConnectionsPerAddress: values.STRONGROOM_MAX_CONNECTIONS_PER_ADDRESS,
    maxBodyBytes: values.STRONGROOM_MAX_BODY_MB * MEGABYTE,
    maxRequests: values.STRONGROOM_MAX_REQUESTS,
    maxHotRequests: values.STRONGROOM_MAX_HOT_REQUESTS,
  }
}

/** Where people reach a server that listens on this port. */
export function publicUrlOf(
  { PUBLIC_URL: publicUrl, HOST }: Settings,
  listeningPort: number,
): string {
  return publicUrl ?? `http://${toBrowserHost(HOST)}:${listeningPort}`
}

/** A host that a browser on this machine can open; a wildcard address such as 0.0.0.0 is not one. */
function toBrowserHost(address: string): string {
  if (address === '0.0.0.0' || address === '::') return 'localhost'
  return isIPv6(address) ? `[${address}]` : address
}

function tablePrefix() {
  return {
    expects: 'up to 32 letters, digits, dots, hyphens and underscores',
    parse: (input: string) => (/^[A-Za-z0-9._-]{0,32}$/.test(input) ? input : undefined),
    format: String,
  }
}

function kmsKeyArn() {
  return {
    expects:
      'the ARN of a KMS key, such as arn:aws:kms:eu-central-1:111122223333:key/…, not of an alias',
    parse: (input: string) =>
      /^arn:[a-z0-9-]+:kms:[a-z0-9-]+:\d{12}:key\/[A-Za-z0-9-]+$/.test(input) ? input : undefined,
    format: String,
  }
}

/** The settings of the server, and those that its services add. */
import { type Config, type ConfigTable, defineConfig } from '@strongroom/kit/config'
import {
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
import { noProxies } from '@strongroom/kit/http/trusted-proxies'
import { logLevels } from '@strongroom/kit/log'
import type { Service } from '@strongroom/kit/service'
import { services } from './services.ts'

const own = {
  PORT: { type: port(), default: 4280, description: 'The port to listen on; 0 takes a free one' },
  HOST: { type: host(), default: '127.0.0.1', description: 'The address to listen on' },
  PUBLIC_URL: {
    type: url({ originOnly: true }),
    description:
      'Where people reach the server, for links and callbacks; unless set, HOST and PORT',
  },
  STRONGROOM_DATA: {
    type: directory(),
    default: './data',
    description: 'Where the embedded store keeps its data',
  },
  STRONGROOM_RECOVERY_DAYS: {
    type: integer({ min: 0, max: 35 }),
    default: 7,
    description:
      'How many days back tables of the embedded store can be restored; each change is kept as long, 0 keeps none',
  },
  STRONGROOM_STORE: {
    type: oneOf('embedded', 'aws'),
    description:
      'The embedded store, or DynamoDB in AWS_REGION; unless set, aws only inside Lambda',
  },
  DYNAMODB_ENDPOINT: {
    type: url(),
    description: 'A DynamoDB-compatible endpoint to use instead of either',
  },
  AWS_REGION: { type: text(), description: 'The region of DynamoDB' },
  STRONGROOM_KMS: {
    type: oneOf('embedded', 'aws'),
    description: 'The embedded KMS, or AWS KMS; unless set, aws where the store is DynamoDB in AWS',
  },
  KMS_ENDPOINT: {
    type: url(),
    description:
      'A KMS-compatible endpoint to use instead of either, such as "strongroom kms serve"',
  },
  KMS_KEY_ARN: {
    type: kmsKeyArn(),
    description: 'The key of AWS KMS, or of the endpoint, to encrypt with',
  },
  STRONGROOM_MASTER_KEY_FILE: {
    type: file(),
    description:
      'Where the embedded KMS has its master key, best on another volume; unless set, keys/master.key in the data directory',
  },
  STRONGROOM_MASTER_KEY_PASSPHRASE: {
    type: text(),
    secret: true,
    description: 'The passphrase of the master key, if it has one',
  },
  STRONGROOM_TABLE_PREFIX: {
    type: tablePrefix(),
    default: '',
    description: 'Put before every table name, so that deployments can share an account',
  },
  STRONGROOM_TRUSTED_PROXIES: {
    type: trustedProxies(),
    default: noProxies,
    description: 'Which proxies are believed about the address of a client',
  },
  STRONGROOM_METRICS_PORT: {
    type: port(),
    description: 'Serve metrics on this port of 127.0.0.1 too, without a token',
  },
  STRONGROOM_TOKEN: {
    type: text(),
    secret: true,
    description:
      'The token of an operator, for commands with --server; the server itself needs none',
  },
  FERRYHOOK_API_KEY: {
    type: text(),
    secret: true,
    description:
      'An API key of Ferryhook, for "strongroom sources", "connections", "events", "replays", "alerts" and "listen"; the server itself needs none',
  },
  FERRYHOOK_SIGNING_SECRET: {
    type: text(),
    secret: true,
    description:
      'What a provider signs with, for "strongroom sources add" and "rotate"; the server itself needs none',
  },
  STRONGROOM_LOG_LEVEL: {
    type: oneOf(...logLevels),
    default: 'info',
    description: 'The lowest level that is logged',
  },
  STRONGROOM_SERVER: {
    type: url(),
    description:
      'Where commands that ask a server find it, unless --server is given; unless set, http://127.0.0.1:4280, and for "strongroom seal" first SEALED_ORIGIN or PUBLIC_URL',
  },
  STRONGROOM_PASSPHRASE: {
    type: text(),
    secret: true,
    description: 'The passphrase of "strongroom seal" and "strongroom open"',
  },
} as const satisfies ConfigTable

/** One table of all settings; a service finds its own in the `config` it is given. */
export function settingsWith(added: readonly Pick<Service, 'settings'>[]): Config<typeof own> {
  return defineConfig(Object.assign({}, own, ...added.map((service) => service.settings)))
}

export const settings = settingsWith(services)

export type Settings = ReturnType<typeof settings.parse>

function tablePrefix() {
  return {
    expects: 'up to 32 letters, digits, dots, hyphens and underscores',
    parse: (given: string) => (/^[A-Za-z0-9._-]{0,32}$/.test(given) ? given : undefined),
    format: String,
  }
}

function kmsKeyArn() {
  return {
    expects:
      'the ARN of a KMS key, such as arn:aws:kms:eu-central-1:111122223333:key/…, not of an alias',
    parse: (given: string) =>
      /^arn:[a-z0-9-]+:kms:[a-z0-9-]+:\d{12}:key\/[A-Za-z0-9-]+$/.test(given) ? given : undefined,
    format: String,
  }
}

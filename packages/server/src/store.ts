/** Opens the store that the settings name. Only this file knows which stores there are. */
import { isAbsolute, resolve } from 'node:path'
import type { Db } from '@strongroom/kit/db'
import { prefixTables } from '@strongroom/kit/prefix-tables'
import { retryingDb } from '@strongroom/kit/retrying-db'
import { reasonOf } from './reason.ts'
import type { Settings } from './settings.ts'

export interface Store {
  db: Db
  kind: 'embedded' | 'endpoint' | 'aws'
  label: string
  /** Where it is, as anyone may know who reaches the home page. */
  detail: string
  /** Where it is exactly, for whoever runs the server. */
  location: string
  /** How far back its tables can be recovered, where this server decides it. */
  recoveryDays?: number
  /** Asks the store for an answer; fails if it has none. */
  check(): Promise<void>
  close(): Promise<void>
}

/** The store cannot be used; the message is one line that says what to do. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}

/** Which store the settings name. */
export function storeKind(settings: Settings): Store['kind'] {
  const { DYNAMODB_ENDPOINT: endpoint, STRONGROOM_STORE: store } = settings
  if (endpoint !== undefined) return 'endpoint'
  return store ?? (process.env.AWS_LAMBDA_FUNCTION_NAME === undefined ? 'embedded' : 'aws')
}

export async function openStore(settings: Settings): Promise<Store> {
  const { DYNAMODB_ENDPOINT: endpoint } = settings
  if (endpoint !== undefined) return openEndpoint(endpoint, settings)
  return storeKind(settings) === 'aws' ? openAws(settings) : openEmbedded(settings)
}

/** Where the SDK looks for credentials; one that is set means that the endpoint wants real ones. */
const CREDENTIALS = [
  'AWS_ACCESS_KEY_ID',
  'AWS_PROFILE',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
]

async function openEndpoint(endpoint: string, settings: Settings): Promise<Store> {
  const hasCredentials = CREDENTIALS.some((name) => process.env[name] !== undefined)
  const store = await openDynamoDb(settings, {
    kind: 'endpoint',
    label: 'DynamoDB endpoint',
    detail: 'set by DYNAMODB_ENDPOINT',
    location: endpoint,
    config: {
      endpoint,
      region: settings.AWS_REGION ?? 'us-east-1',
      // Local endpoints take any; the SDK insists on some.
      ...(!hasCredentials && { credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }),
    },
  })
  await store.check().catch((error: unknown) => {
    throw new StoreUnavailable(
      `Cannot reach the store at ${endpoint} (${reasonOf(error)}): start it, or correct DYNAMODB_ENDPOINT`,
    )
  })
  return store
}

async function openAws(settings: Settings): Promise<Store> {
  const { AWS_REGION: region } = settings
  if (region === undefined) {
    throw new StoreUnavailable('STRONGROOM_STORE=aws needs a region: set AWS_REGION')
  }
  const store = await openDynamoDb(settings, {
    kind: 'aws',
    label: 'DynamoDB',
    detail: region,
    location: region,
    config: { region },
  })
  await store.check().catch((error: unknown) => {
    throw new StoreUnavailable(
      `Cannot use DynamoDB in ${region} (${reasonOf(error)}): check AWS_REGION and the AWS credentials`,
    )
  })
  return store
}

async function openEmbedded(settings: Settings): Promise<Store> {
  const directory = resolve(settings.STRONGROOM_DATA)
  // Loaded only when it is needed: it brings a native library along.
  const { openEngine } = await import('@strongroom/engine/engine')
  const engine = await openEngine({ directory })
  return {
    kind: 'embedded',
    label: 'Embedded engine',
    detail: isAbsolute(settings.STRONGROOM_DATA) ? '' : settings.STRONGROOM_DATA,
    location: directory,
    recoveryDays: settings.STRONGROOM_RECOVERY_DAYS,
    db: prefixTables(engine, settings.STRONGROOM_TABLE_PREFIX),
    check: async () => void (await engine.listTables({ Limit: 1 })),
    close: () => engine.close(),
  }
}

async function openDynamoDb(
  { STRONGROOM_TABLE_PREFIX: prefix }: Settings,
  store: Pick<Store, 'kind' | 'label' | 'detail' | 'location'> & { config: DynamoDbConfig },
): Promise<Store> {
  // Loaded only when it is needed: the SDK is most of what a start would otherwise load.
  const { createAwsDb } = await import('@strongroom/kit/aws-db')
  const { config, ...description } = store
  const aws = createAwsDb(config)
  return {
    ...description,
    db: prefixTables(retryingDb(aws), prefix),
    check: () => aws.ping(),
    close: async () => aws.close(),
  }
}

interface DynamoDbConfig {
  region: string
  endpoint?: string
  credentials?: { accessKeyId: string; secretAccessKey: string }
}

/** Opens the store that the settings select. No other file knows which stores exist. */
import { Failure } from '@strongroom/kit/errors'
import { stat, statfs } from 'node:fs/promises'
import { isAbsolute, join, resolve } from 'node:path'
import { DATA_FILE, hasData } from '@strongroom/engine/storage/lmdb/format'
import type { Db } from '@strongroom/kit/db'
import { prefixTables } from '@strongroom/kit/prefix-tables'
import { retryingDb } from '@strongroom/kit/retrying-db'
import type { Settings } from './settings.ts'

export interface Store {
  db: Db
  kind: 'embedded' | 'endpoint' | 'aws'
  label: string
  /** Where it is, for the public home page. */
  detail: string
  /** Where it is exactly, for the operator. */
  location: string
  /** False for commands that only use what exists: they create no tables and no keys. */
  mayCreate?: boolean
  /** How far back tables can be restored, if this server decides it. */
  recoveryDays?: number
  /** The disk of the embedded store. */
  usage?(): Promise<DiskUsage>
  /** Fails if the store does not respond. */
  check(): Promise<void>
  close(): Promise<void>
}

export interface DiskUsage {
  /** The file of the store. */
  bytes: number
  freeBytes: number
  totalBytes: number
}

/** The store that the settings select. */
export function storeKind(settings: Settings): Store['kind'] {
  const { DYNAMODB_ENDPOINT: endpoint, STRONGROOM_STORE: store } = settings
  if (endpoint !== undefined) return 'endpoint'
  return store ?? (process.env.AWS_LAMBDA_FUNCTION_NAME === undefined ? 'embedded' : 'aws')
}

export interface OpenStoreOptions {
  /** Fails without changes if there is no store. */
  mayCreate?: boolean
  /** Called with the location after a store was created. */
  onCreate?: ((location: string) => void) | undefined
}

export async function openStore(
  settings: Settings,
  options: OpenStoreOptions = {},
): Promise<Store> {
  const { mayCreate = true } = options
  const { DYNAMODB_ENDPOINT: endpoint } = settings
  if (endpoint !== undefined) return { ...(await openEndpoint(endpoint, settings)), mayCreate }
  if (storeKind(settings) === 'aws') return { ...(await openAws(settings)), mayCreate }
  return openEmbedded(settings, { ...options, mayCreate })
}

/** Opening the engine would create a store in an empty or missing directory. */
export function requireEmbeddedStore(directory: string): void {
  if (hasData(directory)) return
  throw new Failure(
    'failed',
    `There is no store in ${directory}: set STRONGROOM_DATA to the directory of one, or create one with "strongroom tables create"`,
  )
}

/** Where the SDK looks for credentials. If one is set, the endpoint needs real ones. */
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
      // The SDK requires credentials, and local endpoints accept any.
      ...(!hasCredentials && { credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }),
    },
  })
  await store.check().catch((error: unknown) => {
    throw new Failure(
      'failed',
      `Cannot reach the store at ${endpoint} (${failureReason(error)}): start it, or correct DYNAMODB_ENDPOINT`,
    )
  })
  return store
}

async function openAws(settings: Settings): Promise<Store> {
  const { AWS_REGION: region } = settings
  if (region === undefined) {
    throw new Failure('failed', 'STRONGROOM_STORE=aws needs a region: set AWS_REGION')
  }
  const store = await openDynamoDb(settings, {
    kind: 'aws',
    label: 'DynamoDB',
    detail: region,
    location: region,
    config: { region },
  })
  await store.check().catch((error: unknown) => {
    throw new Failure(
      'failed',
      `Cannot use DynamoDB in ${region} (${failureReason(error)}): check AWS_REGION and the AWS credentials`,
    )
  })
  return store
}

async function openEmbedded(
  settings: Settings,
  { mayCreate, onCreate }: OpenStoreOptions & { mayCreate: boolean },
): Promise<Store> {
  const directory = resolve(settings.STRONGROOM_DATA)
  if (!mayCreate) requireEmbeddedStore(directory)
  const isNew = !hasData(directory)
  // Loaded only if needed: it has a native library.
  const { openEngine } = await import('@strongroom/engine/engine')
  const engine = await openEngine({ directory })
  if (isNew) onCreate?.(directory)
  return {
    kind: 'embedded',
    mayCreate,
    label: 'Embedded engine',
    detail: isAbsolute(settings.STRONGROOM_DATA) ? '' : settings.STRONGROOM_DATA,
    location: directory,
    recoveryDays: settings.STRONGROOM_RECOVERY_DAYS,
    db: prefixTables(engine, settings.STRONGROOM_TABLE_PREFIX),
    usage: () => diskUsage(directory),
    check: async () => void (await engine.listTables({ Limit: 1 })),
    close: () => engine.close(),
  }
}

async function diskUsage(directory: string): Promise<DiskUsage> {
  const [{ size }, disk] = await Promise.all([stat(join(directory, DATA_FILE)), statfs(directory)])
  return {
    bytes: size,
    freeBytes: disk.bavail * disk.bsize,
    totalBytes: disk.blocks * disk.bsize,
  }
}

async function openDynamoDb(
  { STRONGROOM_TABLE_PREFIX: prefix }: Settings,
  store: Pick<Store, 'kind' | 'label' | 'detail' | 'location'> & { config: DynamoDbConfig },
): Promise<Store> {
  // Loaded only if needed: the SDK would be most of what a start loads.
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

/** Why a connection failed, in one word. */
export function failureReason(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown reason'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}

/** Opens the store that the settings select. No other file knows which stores exist. */
import { AccessDenied } from '@strongroom/kit/access-denied'
import { Failure } from '@strongroom/kit/errors'
import { stat, statfs } from 'node:fs/promises'
import { isAbsolute, join, resolve } from 'node:path'
import type { ConversionProgress } from '@strongroom/engine/storage/conversions/progress'
import { DATA_FILE, hasData } from '@strongroom/engine/storage/lmdb/format'
import type { Db } from '@strongroom/kit/db'
import { prefixTables } from '@strongroom/kit/prefix-tables'
import { type Clock, systemClock } from '@strongroom/platform/clock'
import { openAws, openEndpoint } from './dynamodb-store.ts'
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
  /** Called while a data directory of an older version is converted, which may take minutes. */
  onConversion?: ((progress: ConversionProgress) => void) | undefined
  /** Decides what has expired in the embedded store. */
  clock?: Clock
}

export async function openStore(
  settings: Settings,
  options: OpenStoreOptions = {},
): Promise<Store> {
  const { mayCreate = true } = options
  const { DYNAMODB_ENDPOINT: endpoint } = settings
  if (endpoint !== undefined) {
    const store = await openEndpoint(endpoint, settings)
    await requireResponse(
      store,
      (reason) =>
        `Cannot reach the store at ${endpoint} (${reason}): start it, or correct DYNAMODB_ENDPOINT`,
    )
    return { ...store, mayCreate }
  }
  if (storeKind(settings) === 'aws') {
    const store = await openAws(settings)
    await requireResponse(
      store,
      (reason) =>
        `Cannot use DynamoDB in ${store.location} (${reason}): check AWS_REGION and the AWS credentials`,
    )
    return { ...store, mayCreate }
  }
  return openEmbedded(settings, { ...options, mayCreate })
}

async function requireResponse(
  store: Pick<Store, 'check'>,
  message: (reason: string) => string,
): Promise<void> {
  await store.check().catch((error: unknown) => {
    if (error instanceof AccessDenied) throw error
    throw new Failure('failed', message(failureReason(error)))
  })
}

/** Opening the engine would create a store in an empty or missing directory. */
export function requireEmbeddedStore(directory: string): void {
  if (hasData(directory)) return
  throw new Failure(
    'failed',
    `There is no store in ${directory}: set STRONGROOM_DATA to the directory of one, or create one with "strongroom tables create"`,
  )
}

/** The store in STRONGROOM_DATA, whatever the settings select. */
export async function openEmbedded(
  settings: Settings,
  {
    mayCreate,
    onCreate,
    onConversion,
    clock = systemClock,
  }: OpenStoreOptions & { mayCreate: boolean },
): Promise<Store> {
  const directory = resolve(settings.STRONGROOM_DATA)
  if (!mayCreate) requireEmbeddedStore(directory)
  const isNew = !hasData(directory)
  // Loaded only if needed: it has a native library.
  const { openEngine } = await import('@strongroom/engine/engine')
  const engine = await openEngine({ directory, clock, mayConvert: mayCreate, onConversion })
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

/** Why a connection failed, in one word. */
export function failureReason(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown reason'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}

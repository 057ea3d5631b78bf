/** Opens the KMS that the settings select. No other file knows which exist. */
import { resolve } from 'node:path'
import { AccessDenied } from '@strongroom/kit/access-denied'
import { Failure } from '@strongroom/kit/errors'
import { isLoopbackHost } from '@strongroom/kit/safe-fetch/public-address'
import type { Clock } from '@strongroom/platform/clock'
import { startBackgroundTimer, type StartTimer } from '@strongroom/platform/timers'
import type { Db } from '@strongroom/kit/db'
import type { KmsKey } from '@strongroom/kit/kms'
import type { Log } from '@strongroom/kit/log'
import { startDeletionSweeper } from '@strongroom/kms/deletion-sweep'
import type { EmbeddedKms } from '@strongroom/kms/kms'
import { openLocalKms } from './local.ts'
import { type AskPassphrase, masterKeyPath } from './master-key.ts'
import { failureReason, type Store, storeKind } from '../store.ts'
import type { Settings } from '../settings.ts'

export interface OpenKms {
  key: KmsKey
  kind: 'embedded' | 'endpoint' | 'aws'
  label: string
  /** Where it is, for the public home page. */
  detail: string
  /** For the operator: where it is, or the master key file of the embedded one. */
  location: string
  /** Has the keys of the embedded KMS. */
  keysDb?: Db
  /** What to know before depending on it. */
  warning?: string
  /** Fails unless the key can be used. */
  check(): Promise<void>
  close(): Promise<void>
}

/** The KMS that the settings select; fails for settings that contradict each other. */
export function kmsKind(settings: Settings): OpenKms['kind'] {
  const { KMS_ENDPOINT: endpoint, STRONGROOM_KMS: kms, KMS_KEY_ARN: arn } = settings
  const store = storeKind(settings)
  const kind = endpoint === undefined ? (kms ?? (store === 'aws' ? 'aws' : 'embedded')) : 'endpoint'
  if (kind !== 'embedded') {
    if (arn !== undefined) return kind
    const what = kind === 'aws' ? 'AWS KMS' : 'KMS_ENDPOINT'
    throw new Failure('failed', `${what} needs a key: set KMS_KEY_ARN`)
  }
  requireSharedKms(settings)
  if (arn !== undefined) {
    throw new Failure(
      'failed',
      'KMS_KEY_ARN is set, but the embedded KMS has its own key: also set STRONGROOM_KMS=aws or KMS_ENDPOINT, or unset KMS_KEY_ARN',
    )
  }
  return kind
}

/**
 * Fails if other machines can use the store, but not the KMS that is selected. Call it before the store
 * is opened, which may take long or create something.
 */
export function requireSharedKms(settings: Settings): void {
  const { KMS_ENDPOINT: endpoint, STRONGROOM_KMS: kms } = settings
  const store = storeKind(settings)
  if (store === 'embedded' || isLocalEndpoint(settings) || endpoint !== undefined) return
  if ((kms ?? store) === 'aws') return
  throw new Failure(
    'failed',
    'A shared store requires a shared KMS: set KMS_KEY_ARN, and STRONGROOM_KMS=aws or KMS_ENDPOINT. The embedded KMS works with DYNAMODB_ENDPOINT on this machine only, such as http://127.0.0.1:8000',
  )
}

/** An endpoint for development: no other machine can depend on the keys of this one. */
function isLocalEndpoint({ DYNAMODB_ENDPOINT: endpoint }: Settings): boolean {
  if (endpoint === undefined) return false
  return isLoopbackHost(new URL(endpoint).hostname.replace(/^\[(.*)\]$/, '$1'))
}

export interface OpenKmsOptions {
  clock: Clock
  askPassphrase?: AskPassphrase | undefined
  /** For processes that run for long: keys whose deletion date has passed are then swept every hour. */
  sweep?: { log: Log; startTimer?: StartTimer } | undefined
}

export async function openKms(
  settings: Settings,
  store: Pick<Store, 'db' | 'kind' | 'location' | 'mayCreate'>,
  options: OpenKmsOptions,
): Promise<OpenKms> {
  const kind = kmsKind(settings)
  if (kind === 'embedded') return openEmbedded(settings, store, options)
  const { KMS_ENDPOINT: endpoint, KMS_KEY_ARN: arn = '' } = settings
  const region = arn.split(':')[3] ?? ''
  const place =
    endpoint === undefined
      ? { kind, label: 'AWS KMS', detail: region, location: region }
      : { kind, label: 'KMS endpoint', detail: 'set by KMS_ENDPOINT', location: endpoint }
  return openRemote(place, arn, { region, ...(endpoint !== undefined && { endpoint }) }, options)
}

async function openEmbedded(
  settings: Settings,
  store: Pick<Store, 'db' | 'kind' | 'location' | 'mayCreate'>,
  options: OpenKmsOptions,
): Promise<OpenKms> {
  const { kms, db, record, close } = await openLocalKms(settings, store, options)
  const own = await record()
  if (!own) {
    await close()
    throw new Failure(
      'failed',
      'The KMS key of this store was deleted, and nothing that it encrypted can be decrypted: restore a backup',
    )
  }
  const sweeper = options.sweep && startSweeper(kms, options.sweep.log, options.sweep.startTimer)
  return {
    key: { kms, arn: own.arn },
    kind: 'embedded',
    label: 'Embedded KMS',
    detail: '',
    location: masterKeyPath(settings),
    keysDb: db,
    ...(store.kind !== 'embedded' && { warning: separateKeysWarning(settings) }),
    // Without a KMS call: readiness is public, and each call is a line in the audit log.
    check: async () => requireEnabled((await record())?.state ?? 'deleted'),
    async close() {
      await sweeper?.close()
      await close()
    },
  }
}

function separateKeysWarning({ STRONGROOM_DATA: data }: Settings): string {
  return `For development only: the keys for what is stored at DYNAMODB_ENDPOINT are in ${resolve(data)} on this machine. If that directory is lost, nothing encrypted can be decrypted. Elsewhere, set KMS_ENDPOINT or STRONGROOM_KMS=aws, and KMS_KEY_ARN`
}

function startSweeper(kms: EmbeddedKms, log: Log, startTimer = startBackgroundTimer) {
  const onFailure = (error: unknown) =>
    log.error('sweep of KMS keys failed, retrying in an hour', { error })
  return startDeletionSweeper({ kms, startTimer, onFailure })
}

async function openRemote(
  place: Pick<OpenKms, 'kind' | 'label' | 'detail' | 'location'>,
  arn: string,
  connection: { region: string; endpoint?: string },
  { clock }: { clock: Clock },
): Promise<OpenKms> {
  // Loaded only if needed: the SDK would be most of what a start loads.
  const { createAwsKms } = await import('@strongroom/kit/aws-kms')
  const kms = createAwsKms(connection)
  const state = async () => (await kms.describeKey({ KeyId: arn })).KeyMetadata.KeyState
  await state().catch((error: unknown) => {
    kms.close()
    if (error instanceof AccessDenied) throw error
    throw new Failure(
      'failed',
      `Cannot use the key of ${place.label} at ${place.location} (${failureReason(error)}): check ${connection.endpoint === undefined ? '' : 'KMS_ENDPOINT, '}KMS_KEY_ARN and the AWS credentials`,
    )
  })
  return {
    ...place,
    key: { kms, arn },
    check: cacheCheck(clock, async () => requireEnabled(await state())),
    close: async () => kms.close(),
  }
}

/** A disabled key does not prevent a start: the server becomes ready when it is enabled again. */
function requireEnabled(state: string): void {
  if (state !== 'Enabled') throw new Failure('failed', `The KMS key cannot be used: it is ${state}`)
}

const CHECK_CACHE_MS = 5000

/** Readiness is public, and KMS calls cost money. */
function cacheCheck(clock: Clock, check: () => Promise<void>): () => Promise<void> {
  let last: { at: number; outcome: Promise<void> } | undefined
  return () => {
    const now = clock.now()
    // If the clock was set back, the age is unknown.
    if (!last || now < last.at || now - last.at >= CHECK_CACHE_MS)
      last = { at: now, outcome: check() }
    return last.outcome
  }
}

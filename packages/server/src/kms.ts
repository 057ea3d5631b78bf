/** Opens the KMS that the settings name. Only this file knows which there are. */
import type { Clock } from '@strongroom/kit/clock'
import type { Db } from '@strongroom/kit/db'
import type { KmsKey } from '@strongroom/kit/kms'
import { openEmbeddedKms } from './embedded-kms.ts'
import { type AskPassphrase, masterKeyFile } from './master-key.ts'
import { reasonOf } from './reason.ts'
import type { Settings } from './settings.ts'
import { type Store, storeKind } from './store.ts'

export interface OpenKms {
  key: KmsKey
  kind: 'embedded' | 'endpoint' | 'aws'
  label: string
  /** Where it is, as anyone may know who reaches the home page. */
  detail: string
  /** For whoever runs the server: where it is, or the master key of the embedded one. */
  location: string
  /** Fails unless the key can be used. */
  check(): Promise<void>
  close(): Promise<void>
}

/** The KMS cannot be used; the message is one line that says what to do. */
export class KmsUnavailable extends Error {
  override readonly name = 'KmsUnavailable'
}

/** Which KMS the settings name; refuses settings that do not fit together. */
export function kmsKind(settings: Settings): OpenKms['kind'] {
  const { KMS_ENDPOINT: endpoint, STRONGROOM_KMS: kms, KMS_KEY_ARN: arn } = settings
  const store = storeKind(settings)
  const kind = endpoint === undefined ? (kms ?? (store === 'aws' ? 'aws' : 'embedded')) : 'endpoint'
  if (kind !== 'embedded') {
    if (arn !== undefined) return kind
    const what = kind === 'aws' ? 'AWS KMS' : 'KMS_ENDPOINT'
    throw new KmsUnavailable(`${what} needs a key: set KMS_KEY_ARN`)
  }
  if (store !== 'embedded') {
    throw new KmsUnavailable(
      'A store that several machines reach needs a KMS that they reach too: set KMS_KEY_ARN, and STRONGROOM_KMS=aws or KMS_ENDPOINT',
    )
  }
  if (arn !== undefined) {
    throw new KmsUnavailable(
      'KMS_KEY_ARN is set, but the embedded KMS has a key of its own: set STRONGROOM_KMS=aws or KMS_ENDPOINT too, or remove it',
    )
  }
  return kind
}

export async function openKms(
  settings: Settings,
  { db }: Pick<Store, 'db'>,
  options: { clock: Clock; askPassphrase?: AskPassphrase | undefined },
): Promise<OpenKms> {
  const kind = kmsKind(settings)
  if (kind === 'embedded') return openEmbedded(settings, db, options)
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
  db: Db,
  options: Parameters<typeof openEmbeddedKms>[2],
): Promise<OpenKms> {
  const { kms, record, close } = await openEmbeddedKms(db, settings, options)
  const own = await record()
  if (!own) {
    close()
    throw new KmsUnavailable(
      'The KMS key of this store was deleted, and nothing opens what it has encrypted: restore a backup',
    )
  }
  return {
    key: { kms, arn: own.arn },
    kind: 'embedded',
    label: 'Embedded KMS',
    detail: '',
    location: masterKeyFile(settings),
    // Not by a call of the KMS: anyone may ask for readiness, and each call is a line in the audit log.
    check: async () => requireEnabled((await record())?.state ?? 'deleted'),
    close: async () => close(),
  }
}

async function openRemote(
  place: Pick<OpenKms, 'kind' | 'label' | 'detail' | 'location'>,
  arn: string,
  connection: { region: string; endpoint?: string },
  { clock }: { clock: Clock },
): Promise<OpenKms> {
  // Loaded only when it is needed: the SDK is most of what a start would otherwise load.
  const { createAwsKms } = await import('@strongroom/kit/aws-kms')
  const kms = createAwsKms(connection)
  const state = async () => (await kms.describeKey({ KeyId: arn })).KeyMetadata.KeyState
  await state().catch((error: unknown) => {
    kms.close()
    throw new KmsUnavailable(
      `Cannot use the key of ${place.label} at ${place.location} (${reasonOf(error)}): check ${connection.endpoint === undefined ? '' : 'KMS_ENDPOINT, '}KMS_KEY_ARN and the AWS credentials`,
    )
  })
  return {
    ...place,
    key: { kms, arn },
    check: remembered(clock, async () => requireEnabled(await state())),
    close: async () => kms.close(),
  }
}

/** A disabled key does not stop a start: once it is enabled again, the server is ready again. */
function requireEnabled(state: string): void {
  if (state !== 'Enabled') throw new KmsUnavailable(`The KMS key cannot be used: it is ${state}`)
}

const REMEMBERED_MS = 5000

/** Anyone may ask for readiness, and each call of a KMS costs. */
function remembered(clock: Clock, check: () => Promise<void>): () => Promise<void> {
  let last: { at: number; outcome: Promise<void> } | undefined
  return () => {
    const now = clock.now()
    // If the clock was set back, nothing is known of the age.
    if (!last || now < last.at || now - last.at >= REMEMBERED_MS)
      last = { at: now, outcome: check() }
    return last.outcome
  }
}

/**
 * What a function needs of its surroundings: settings, store, KMS key, clock and log. Opening it makes
 * no call, because the role of a function allows only what the function itself does.
 */
import { Failure } from '@strongroom/kit/errors'
import { type AwsKms, createAwsKms } from '@strongroom/kit/aws-kms'
import type { Kms } from '@strongroom/kit/kms'
import { createLog, type Log } from '@strongroom/kit/log'
import { createMetrics, type Metrics } from '@strongroom/kit/metrics'
import { serverTable } from '@strongroom/kit/server-table'
import type { Service } from '@strongroom/kit/service'
import { type Clock, isRecent, systemClock } from '@strongroom/platform/clock'
import { openAws, openEndpoint } from '@strongroom/server/dynamodb-store'
import type { OpenKms } from '@strongroom/server/kms/open'
import { settingsWith } from '@strongroom/server/own-settings'
import type { Settings } from '@strongroom/server/settings'
import type { Store } from '@strongroom/server/store'

/** The part of Lambda's context that handlers use. */
export interface LambdaContext {
  getRemainingTimeInMillis(): number
}

/** Less than the other side keeps an idle connection. */
const MAX_IDLE_MS = 3_000

export interface Runtime {
  settings: Settings
  store: Store
  kms: OpenKms
  /** Where people reach the deployment. */
  publicUrl: string
  log: Log
  clock: Clock
  metrics: Metrics
  runsContinuously: false
  /** To call when an event arrives: connections that were idle while the instance was frozen may be dead. */
  resume(): Promise<void>
  /** To call when the event is handled. */
  rest(): void
  /** A deployment is never reachable from one machine only. */
  isLocal: false
}

export async function openRuntime(
  services: readonly Pick<Service, 'settings'>[],
): Promise<Runtime> {
  const settings = settingsWith(services).parse(process.env)
  const log = createLog({ level: settings.STRONGROOM_LOG_LEVEL, pretty: false })
  const { DYNAMODB_ENDPOINT: endpoint } = settings
  const opened = await (endpoint === undefined
    ? openAws(settings)
    : openEndpoint(endpoint, settings))
  const kms = openKms(settings)
  let restedAt = systemClock.now()
  return {
    settings,
    // Listing tables, as a server does, needs a permission that no function has.
    store: { ...opened, mayCreate: false, check: () => readOneItem(opened) },
    kms,
    publicUrl: settings.PUBLIC_URL ?? '',
    log,
    clock: systemClock,
    metrics: createMetrics(),
    runsContinuously: false,
    async resume() {
      if (isRecent(systemClock, restedAt, MAX_IDLE_MS)) return
      // Clients open new connections when they need them. A write on a dead one would fail, and must not be
      // repeated, because it may have happened.
      await Promise.all([opened.close(), kms.close()])
    },
    rest() {
      restedAt = systemClock.now()
    },
    isLocal: false,
  }
}

/** Links, callbacks and signatures need the address: the Host header is the client's choice. */
export function requirePublicUrl({ publicUrl }: Pick<Runtime, 'publicUrl'>): void {
  if (publicUrl !== '') return
  throw new Failure(
    'failed',
    'PUBLIC_URL is not set: set it to the https address of the deployment',
  )
}

async function readOneItem({ db }: Pick<Store, 'db'>): Promise<void> {
  await db.getItem({ TableName: serverTable.name, Key: { PK: 'OPERATORS', SK: 'ADMINS' } })
}

function openKms({ KMS_KEY_ARN: arn, KMS_ENDPOINT: endpoint }: Settings): OpenKms {
  const region = arn?.split(':')[3] ?? ''
  const kms =
    arn === undefined ? keyless() : createAwsKms({ region, ...(endpoint && { endpoint }) })
  return {
    kind: endpoint === undefined ? 'aws' : 'endpoint',
    label: endpoint === undefined ? 'AWS KMS' : 'KMS endpoint',
    detail: endpoint === undefined ? region : 'set by KMS_ENDPOINT',
    location: endpoint ?? region,
    key: { kms, arn: arn ?? '' },
    async check() {
      const { KeyMetadata } = await kms.describeKey({ KeyId: arn ?? '' })
      if (KeyMetadata.KeyState === 'Enabled') return
      throw new Failure('failed', `The KMS key cannot be used: it is ${KeyMetadata.KeyState}`)
    },
    close: async () => kms.close(),
  }
}

/** For functions that use no key. */
function keyless(): AwsKms {
  const refuse = async (): Promise<never> => {
    throw new Failure('failed', 'KMS_KEY_ARN is not set: set it to the ARN of the KMS key')
  }
  const kms: Kms = {
    generateDataKeyWithoutPlaintext: refuse,
    encrypt: refuse,
    decrypt: refuse,
    reEncrypt: refuse,
    describeKey: refuse,
  }
  return { ...kms, close: () => {} }
}

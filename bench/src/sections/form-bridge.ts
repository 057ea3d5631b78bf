// Form-Bridge on the embedded store, in process: what it costs to know a signed request (two reads,
// a nonce, a limit), and whether limits and exchanges hold when many come at once.

import { createHmac, randomBytes } from 'node:crypto'
import { openEngine } from '@strongroom/engine/engine'
import { createAuthenticate } from '@strongroom/form-bridge/auth/authenticate'
import { newSiteId } from '@strongroom/form-bridge/items/site'
import { createKeptSecrets } from '@strongroom/form-bridge/keys/kept-secrets'
import { hashOf, newKey, newTempKey, newWebhookSecret } from '@strongroom/form-bridge/keys/key-text'
import { generalLimits } from '@strongroom/form-bridge/limits/general-limits'
import { createRateGuard } from '@strongroom/form-bridge/limits/guard'
import { canonical } from '@strongroom/form-bridge/signing/signed-request'
import { createDataLayer, type DataLayer } from '@strongroom/form-bridge/store/data-layer'
import { formBridgeTable } from '@strongroom/form-bridge/table'
import { cachedBranchKeys } from '@strongroom/key-store/cache'
import { createEnvelope } from '@strongroom/key-store/envelope'
import { openKeyStore } from '@strongroom/key-store/key-store'
import { createKeyStorage } from '@strongroom/key-store/storage'
import { branchKeysTable, LOGICAL_KEY_STORE_NAME } from '@strongroom/key-store/table'
import { systemClock } from '@strongroom/kit/clock'
import { createTables } from '@strongroom/kit/create-tables'
import type { Db } from '@strongroom/kit/db'
import { createKms } from '@strongroom/kms/kms'
import { memoryKeyStorage } from '@strongroom/kms/testing/memory-key-storage'
import { measure } from '../measure.ts'
import type { Options } from '../options.ts'
import { exactBar, type Result } from '../result.ts'
import { median, measureInTurns } from '../rounds.ts'
import type { Workspace } from '../workspace.ts'

const SITES = 200
const AT_ONCE = 64
const SIGNED = 50_000
const UNLIMITED = 1_000_000
const REQUIRED = 3_000

const target = '/form-bridge/v1/site'
const body = new Uint8Array(0)

export async function formBridgeSection(workspace: Workspace, options: Options): Promise<Result> {
  const engine = await openEngine({ directory: workspace.directory() })
  await createTables(engine, [formBridgeTable, branchKeysTable])
  const clock = systemClock
  const layer = createDataLayer({ db: engine, clock })
  const kept = createKeptSecrets(await secretBox(engine))
  const { signed } = createAuthenticate({ clock, authentication: layer.authentication, kept })
  const guard = guardOf(layer, UNLIMITED)
  const sites = await Promise.all(Array.from({ length: SITES }, () => connected(layer, kept)))
  // Signing is the work of the sites, and done beforehand.
  const signedBefore = Array.from({ length: SIGNED }, (_, at) => headersOf(sites[at % SITES]!))

  const figures = await measureInTurns(
    [
      {
        name: 'form-bridge',
        measure: (concurrency, milliseconds) =>
          measure(
            async (at) => {
              const headers = signedBefore.pop() ?? headersOf(sites[at % SITES]!)
              await signed({ method: 'GET', target, body }, headers)
              const { admitted } = await guard.take({ scope: 'api', site_id: headers.site_id })
              if (!admitted) throw new Error('The benchmark has met a limit')
            },
            concurrency,
            milliseconds,
          ),
      },
    ],
    'authenticate a signed request',
    AT_ONCE,
    { warmUpSeconds: 1, rounds: 5, seconds: options.seconds },
  )
  const perCpuSecond = 1_000_000 / median(figures[0]?.cpu ?? [Infinity])
  const admitted = await admittedOf400(guardOf(layer, 90))
  const successes = await successesOf20(layer, kept)
  await engine.close()

  return {
    title: 'Form-Bridge: signed requests on the embedded store, in process',
    figures,
    bars: [
      {
        text: 'signed requests authenticated for each CPU-second',
        required: REQUIRED,
        unit: 'calls',
        actual: perCpuSecond,
        met: perCpuSecond >= REQUIRED,
      },
      exactBar('admitted of 400 at a limit of 90, 64 at once', admitted, 90, 'calls'),
      exactBar('credentials given by 20 exchanges at once', successes, 1, 'calls'),
    ],
    notes: [],
  }
}

interface Site {
  site_id: string
  webhook_secret: string
}

type Kept = ReturnType<typeof createKeptSecrets>

async function secretBox(db: Db) {
  const kms = await createKms({ masterKey: randomBytes(32), storage: memoryKeyStorage() })
  const { KeyMetadata } = await kms.createKey()
  const keyStore = openKeyStore({
    storage: createKeyStorage({
      db,
      tableName: branchKeysTable.name,
      logicalKeyStoreName: LOGICAL_KEY_STORE_NAME,
    }),
    kms,
    kmsConfiguration: { kind: 'kmsKeyArn', arn: KeyMetadata.Arn },
  })
  const cache = { clock: systemClock, ttlSeconds: 3600, capacity: 100 }
  return createEnvelope({ keyStore, branchKeys: cachedBranchKeys(keyStore, cache) })
}

function guardOf(layer: DataLayer, limit: number) {
  const limits = { FORM_BRIDGE_API_LIMIT: limit, FORM_BRIDGE_REGISTRATION_LIMIT: limit }
  return createRateGuard({
    rates: layer.rates,
    clock: systemClock,
    general: generalLimits(limits),
    isSlowed: async () => false,
  })
}

async function registered(layer: DataLayer) {
  const domain = `${randomBytes(8).toString('hex')}.example.com`
  return layer.registrations.create({
    domain,
    temp_key: hashOf(newTempKey()),
    wp_version: '6.8.12',
    plugin_version: '1.0.0',
    client_ip: 'ip_bench',
  })
}

async function newSite(kept: Kept) {
  const site_id = newSiteId()
  const secret = newWebhookSecret()
  const webhook_secret = await kept.sealWebhookSecret(site_id, secret)
  const api_key_hash = hashOf(newKey('live'))
  return { secret, site: { site_id, api_key_hash, webhook_secret, rate_limit_remaining: 1 } }
}

async function connected(layer: DataLayer, kept: Kept): Promise<Site> {
  const { secret, site } = await newSite(kept)
  await layer.connections.connect(await registered(layer), site)
  return { site_id: site.site_id, webhook_secret: secret }
}

function headersOf({ site_id, webhook_secret }: Site) {
  const moment = {
    timestamp: Math.floor(systemClock.now() / 1000),
    nonce: randomBytes(16).toString('hex'),
  }
  const text = canonical({ method: 'GET', target, body }, moment)
  const signature = createHmac('sha256', webhook_secret).update(text).digest('hex')
  return { site_id, signature, ...moment }
}

/** In one window: a burst that meets the end of a minute is tried again. */
async function admittedOf400(guard: ReturnType<typeof guardOf>): Promise<number> {
  const minute = () => Math.floor(systemClock.now() / 60_000)
  for (;;) {
    const began = minute()
    const site_id = newSiteId()
    let left = 400
    let admitted = 0
    const caller = async () => {
      while (left-- > 0) {
        // oxlint-disable-next-line no-await-in-loop -- the next call comes after the answer
        const decision = await guard.take({ scope: 'api', site_id })
        if (decision.admitted) admitted++
      }
    }
    // oxlint-disable-next-line no-await-in-loop
    await Promise.all(Array.from({ length: AT_ONCE }, caller))
    if (minute() === began) return admitted
  }
}

async function successesOf20(layer: DataLayer, kept: Kept): Promise<number> {
  const registration = await registered(layer)
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, async () =>
      layer.connections.connect(registration, (await newSite(kept)).site),
    ),
  )
  return outcomes.filter((outcome) => outcome.connected).length
}

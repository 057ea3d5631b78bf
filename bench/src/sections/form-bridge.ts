// Form-Bridge on the embedded store, in process: the cost of authenticating a signed request (two reads, a
// nonce, a limit), and whether limits and exchanges hold under concurrency.

import { createHmac, randomBytes } from 'node:crypto'
import { openEngine } from '@strongroom/engine/engine'
import { createAuthenticate } from '@strongroom/form-bridge/authentication/service'
import { canonicalRequest } from '@strongroom/form-bridge/authentication/signature'
import { sha256Hex, newTempKey } from '@strongroom/form-bridge/credentials/keys'
import { createSiteSecrets, type SiteSecrets } from '@strongroom/form-bridge/credentials/secrets'
import { createRateLimits, defaultLimits } from '@strongroom/form-bridge/limits/service'
import { newSiteId } from '@strongroom/form-bridge/sites/item'
import { createStores, type Stores } from '@strongroom/form-bridge/stores'
import { formBridgeTable } from '@strongroom/form-bridge/tables'
import { cachedBranchKeys } from '@strongroom/key-store/cache'
import { createEnvelope } from '@strongroom/key-store/envelope/envelope'
import { openKeyStore } from '@strongroom/key-store/store/key-store'
import { createKeyStorage } from '@strongroom/key-store/store/storage'
import { branchKeysTable, LOGICAL_KEY_STORE_NAME } from '@strongroom/key-store/tables'
import { systemClock } from '@strongroom/platform/clock'
import { createTables } from '@strongroom/kit/tables'
import type { Db } from '@strongroom/kit/db'
import { createKms } from '@strongroom/kms/kms'
import { memoryKeyStorage } from '@strongroom/kms/testing/memory-key-storage'
import { measure } from '../measure.ts'
import type { Options } from '../options.ts'
import { exactTarget, type Result } from '../result.ts'
import { measureInTurns, median } from '../rounds.ts'
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
  const stores = createStores({ db: engine, clock })
  const siteSecrets = createSiteSecrets({ box: await secretBox(engine), clock })
  const { signed } = createAuthenticate({ ...stores, clock, siteSecrets })
  const limits = limitsOf(stores, UNLIMITED)
  const sites = await Promise.all(
    Array.from({ length: SITES }, () => connected(stores, siteSecrets)),
  )
  // Sites sign requests, so signing is done before the measurement.
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
              const { admitted } = await limits.take({ scope: 'api', site_id: headers.site_id })
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
  const admitted = await admittedOf400(limitsOf(stores, 90))
  const successes = await successesOf20(stores, siteSecrets)
  await engine.close()

  return {
    title: 'Form-Bridge: signed requests on the embedded store, in process',
    figures,
    targets: [
      {
        text: 'signed requests authenticated per CPU second',
        required: REQUIRED,
        unit: 'calls',
        actual: perCpuSecond,
        met: perCpuSecond >= REQUIRED,
      },
      exactTarget(
        'Form-Bridge, admitted of 400 with a limit of 90, 64 concurrent',
        admitted,
        90,
        'calls',
      ),
      exactTarget(
        'Form-Bridge, credentials issued by 20 concurrent exchanges',
        successes,
        1,
        'calls',
      ),
    ],
    notes: [],
  }
}

interface Site {
  site_id: string
  webhook_secret: string
}

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

function limitsOf(stores: Stores, limit: number) {
  const limits = { FORM_BRIDGE_API_LIMIT: limit, FORM_BRIDGE_REGISTRATION_LIMIT: limit }
  return createRateLimits({
    rates: stores.rates,
    clock: systemClock,
    defaults: defaultLimits(limits),
    isSlowed: async () => false,
  })
}

async function registered(stores: Stores) {
  const domain = `${randomBytes(8).toString('hex')}.example.com`
  return stores.registrations.create({
    domain,
    temp_key: sha256Hex(newTempKey()),
    wp_version: '6.8.12',
    plugin_version: '1.0.0',
    client_ip: 'ip_bench',
  })
}

async function newSite(siteSecrets: SiteSecrets) {
  const site_id = newSiteId()
  const { plain, stored } = await siteSecrets.issueKeys(site_id)
  return { secret: plain.webhook_secret, site: { site_id, ...stored, rate_limit_remaining: 1 } }
}

async function connected(stores: Stores, siteSecrets: SiteSecrets): Promise<Site> {
  const { secret, site } = await newSite(siteSecrets)
  await stores.credentials.connect(await registered(stores), site)
  return { site_id: site.site_id, webhook_secret: secret }
}

function headersOf({ site_id, webhook_secret }: Site) {
  const moment = {
    timestamp: Math.floor(systemClock.now() / 1000),
    nonce: randomBytes(16).toString('hex'),
  }
  const text = canonicalRequest({ method: 'GET', target, body }, moment)
  const signature = createHmac('sha256', webhook_secret).update(text).digest('hex')
  return { site_id, signature, ...moment }
}

/** Within one window: a burst that spans the end of a minute is repeated. */
async function admittedOf400(limits: ReturnType<typeof limitsOf>): Promise<number> {
  const minute = () => Math.floor(systemClock.now() / 60_000)
  for (;;) {
    const began = minute()
    const site_id = newSiteId()
    let left = 400
    let admitted = 0
    const caller = async () => {
      while (left-- > 0) {
        // oxlint-disable-next-line no-await-in-loop -- the next call comes after the answer
        const decision = await limits.take({ scope: 'api', site_id })
        if (decision.admitted) admitted++
      }
    }
    // oxlint-disable-next-line no-await-in-loop
    await Promise.all(Array.from({ length: AT_ONCE }, caller))
    if (minute() === began) return admitted
  }
}

async function successesOf20(stores: Stores, siteSecrets: SiteSecrets): Promise<number> {
  const registration = await registered(stores)
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, async () =>
      stores.credentials.connect(registration, (await newSite(siteSecrets)).site),
    ),
  )
  return outcomes.filter((outcome) => outcome.kind === 'connected').length
}

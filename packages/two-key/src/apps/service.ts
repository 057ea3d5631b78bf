/** The Slack apps of a deployment: their signing secrets, upstreams and policies. */
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import type { Db } from '@strongroom/kit/db'
import { ConditionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { retryOnConflict } from '@strongroom/kit/retry-on-conflict'
import type { SafeFetch } from '@strongroom/kit/safe-fetch'
import { SafeFetchError } from '@strongroom/kit/safe-fetch/error'
import type { SecretBox, SecretPlace } from '@strongroom/kit/secret-box'
import { serverTable } from '@strongroom/kit/server-table'
import { transactParts } from '@strongroom/kit/transact'
import { twoKeyError } from '../errors.ts'
import { createStores } from '../stores.ts'
import { appKey, AppItem, type AppPolicy, APPS, FirstAppItem, type Upstream } from './item.ts'
import {
  activeSecrets,
  createSecretList,
  parseSecrets,
  rotateSecrets,
  serializeSecrets,
  type SigningSecrets,
} from './signing-secrets.ts'

export interface NewApp {
  name: string
  appId?: string | undefined
  signingSecret: string
  upstream: Upstream
  policy: AppPolicy
  installation?: InstallationInput | undefined
}

export interface InstallationInput {
  clientId: string
  /** Omitted, it stays as it is. */
  clientSecret?: string | undefined
  scopes?: readonly string[] | undefined
}

/** The app's client at Slack. */
export interface SlackClient {
  clientId: string
  clientSecret: string
}

export interface AppChange {
  appId?: string | null | undefined
  upstream?: Upstream | undefined
  policy?: AppPolicy | undefined
  /** Null ends the installation through this server. */
  installation?: InstallationInput | null | undefined
}

export interface AppService {
  add(app: NewApp): Promise<AppItem>
  get(name: string): Promise<AppItem | undefined>
  list(): Promise<AppItem[]>
  change(name: string, change: AppChange): Promise<AppItem>
  /** Adds a new signing secret; the others remain valid for the overlap. */
  rotate(name: string, secret: string, overlapSeconds: number): Promise<AppItem>
  /** Removes an app with its tokens. */
  remove(name: string): Promise<void>
  /** The active ones, the newest first. */
  signingSecrets(app: AppItem): Promise<SigningSecrets>
  /** Undefined if the app cannot be installed through this server. */
  slackClient(app: AppItem): Promise<SlackClient | undefined>
}

const MAX_ATTEMPTS = 5

export function createAppService(deps: {
  db: Db
  clock: Clock
  box: SecretBox
  /** Throws if requests cannot be sent to a URL. */
  checkUrl: SafeFetch['check']
  /** Where the tokens of a removed app are deleted; `db` by default. */
  tokenDb?: ((team: string) => Db) | undefined
}): AppService {
  const { db, clock, box } = deps
  const items = entity(db, serverTable, AppItem)
  const first = entity(db, serverTable, FirstAppItem)
  const isAbsent = expr`attribute_not_exists(${items.attr('PK')})`

  function checkUpstream({ url }: Upstream): void {
    try {
      deps.checkUrl(url)
    } catch (error) {
      if (!(error instanceof SafeFetchError)) throw error
      const details = [{ path: 'body.upstream.url', message: error.message }]
      throw twoKeyError('invalid_upstream', { details })
    }
  }

  async function requireItem(name: string): Promise<AppItem> {
    const item = await items.get(appKey(name))
    if (!item) throw twoKeyError('app_not_found')
    return item
  }

  async function update(
    name: string,
    change: (app: AppItem) => AppItem | Promise<AppItem>,
  ): Promise<AppItem> {
    const attempt = async () => {
      const before = await requireItem(name)
      const after = { ...(await change(before)), revision: before.revision + 1 }
      await items.put(after, expr`${items.attr('revision')} = ${before.revision}`)
      return after
    }
    const exhausted = () => twoKeyError('changed_meanwhile')
    return retryOnConflict(attempt, { maxAttempts: MAX_ATTEMPTS, exhausted })
  }

  /** The first app ever has the specification's own keys. One write decides which app that is. */
  async function addAsFirst(app: AppItem): Promise<boolean> {
    const marker = { PK: 'SLACKAPP#FIRST', SK: 'APP', name: app.SK } as const
    const isFree = expr`attribute_not_exists(${first.attr('PK')}) OR ${first.attr('name')} = ${app.SK}`
    const outcome = await transactParts(db, {
      app: items.part.put(app, isAbsent),
      first: first.part.put(marker, isFree),
    })
    if (outcome.kind === 'done') return true
    if (outcome.by.has('app')) throw twoKeyError('app_exists')
    return false
  }

  async function withInstallation(
    { clientId: knownId, clientSecret: known, scopes: knownScopes, ...app }: AppItem,
    given: InstallationInput | null | undefined,
  ): Promise<AppItem> {
    if (given === null) return app
    const clientId = given?.clientId ?? knownId
    if (clientId === undefined) return app
    const scopes = given?.scopes ? [...given.scopes] : knownScopes
    // The secret of one client is not that of another.
    const kept = clientId === knownId ? known : undefined
    const clientSecret =
      given?.clientSecret === undefined
        ? kept
        : await box.seal(new TextEncoder().encode(given.clientSecret), clientPlace(app.SK))
    if (!clientSecret) throw twoKeyError('client_secret_required')
    return { ...app, clientId, clientSecret, ...(scopes && { scopes }) }
  }

  return {
    async add({ name, appId, signingSecret, upstream, policy, installation }) {
      checkUpstream(upstream)
      const now = epochSeconds(clock)
      const secrets = serializeSecrets(createSecretList(signingSecret, now))
      const plain: AppItem = {
        ...appKey(name),
        ...(appId !== undefined && { appId }),
        isFirst: true,
        signingSecrets: await box.seal(secrets, placeOf(name)),
        upstream,
        policy,
        createdAt: now,
        revision: 1,
      }
      const item = await withInstallation(plain, installation)
      if (await addAsFirst(item)) return item
      const further = { ...item, isFirst: false }
      await items.put(further, isAbsent).catch((error: unknown) => {
        throw error instanceof ConditionFailed ? twoKeyError('app_exists') : error
      })
      return further
    },

    get: async (name) => items.get(appKey(name)),

    async list() {
      const page = await items.query({ key: expr`${items.attr('PK')} = ${APPS}` })
      return page.items
    },

    async change(name, { appId, upstream, policy, installation }) {
      if (upstream) checkUpstream(upstream)
      return update(name, async ({ appId: before, ...app }) => ({
        ...(await withInstallation(app, installation)),
        ...(appId === undefined && before !== undefined && { appId: before }),
        ...(typeof appId === 'string' && { appId }),
        ...(upstream && { upstream }),
        ...(policy && { policy }),
      }))
    },

    rotate: async (name, secret, overlapSeconds) =>
      update(name, async (app) => {
        const now = epochSeconds(clock)
        const before = parseSecrets(await box.open(app.signingSecrets, placeOf(name)))
        const after = rotateSecrets(before, secret, { now, overlapSeconds })
        if (after === 'too_many') throw twoKeyError('too_many_secrets')
        const signingSecrets = await box.seal(serializeSecrets(after), placeOf(name))
        return { ...app, signingSecrets }
      }),

    async remove(name) {
      const { isFirst } = await requireItem(name)
      const { tokens } = createStores({ db, clock, ...(!isFirst && { app: name }) })
      for (const { team } of await tokens.list()) await tokens.delete(team, deps.tokenDb?.(team))
      const exists = expr`attribute_exists(${items.attr('PK')})`
      await items.delete(appKey(name), exists).catch((error: unknown) => {
        throw error instanceof ConditionFailed ? twoKeyError('app_not_found') : error
      })
    },

    async signingSecrets(app) {
      const secrets = parseSecrets(await box.open(app.signingSecrets, placeOf(app.SK)))
      return activeSecrets(secrets, epochSeconds(clock))
    },

    async slackClient({ SK, clientId, clientSecret }) {
      if (clientId === undefined || !clientSecret) return undefined
      const secret = await box.open(clientSecret, clientPlace(SK))
      return { clientId, clientSecret: Buffer.from(secret).toString() }
    },
  }
}

function clientPlace(app: string): SecretPlace {
  return { service: 'two-key', tenant: app, entity: 'app', attribute: 'clientSecret' }
}

function placeOf(app: string): SecretPlace {
  return { service: 'two-key', tenant: app, entity: 'app', attribute: 'signingSecrets' }
}

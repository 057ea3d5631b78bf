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
}

export interface AppChange {
  appId?: string | null | undefined
  upstream?: Upstream | undefined
  policy?: AppPolicy | undefined
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

  return {
    async add({ name, appId, signingSecret, upstream, policy }) {
      checkUpstream(upstream)
      const now = epochSeconds(clock)
      const secrets = serializeSecrets(createSecretList(signingSecret, now))
      const item: AppItem = {
        ...appKey(name),
        ...(appId !== undefined && { appId }),
        isFirst: true,
        signingSecrets: await box.seal(secrets, placeOf(name)),
        upstream,
        policy,
        createdAt: now,
        revision: 1,
      }
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

    async change(name, { appId, upstream, policy }) {
      if (upstream) checkUpstream(upstream)
      return update(name, ({ appId: before, ...app }) => ({
        ...app,
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
  }
}

function placeOf(app: string): SecretPlace {
  return { service: 'two-key', tenant: app, entity: 'app', attribute: 'signingSecrets' }
}

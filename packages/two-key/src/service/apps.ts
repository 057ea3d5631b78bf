/** The apps of a deployment: each with its signing secrets, its upstream and its policy. */
import { type Clock, epochSeconds } from '@strongroom/kit/clock'
import type { Db } from '@strongroom/kit/db'
import { ConditionFailed, TransactionFailed } from '@strongroom/kit/db-errors'
import { entity, transact } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import type { SecretBox, SecretPlace } from '@strongroom/kit/secret-box'
import { serverTable } from '@strongroom/kit/server-table'
import { twoKeyError } from '../errors.ts'
import { AppItem, type AppPolicy, APPS, FirstAppItem, type Upstream } from './app-item.ts'
import {
  firstSecret,
  inForce,
  packed,
  rotated,
  type SigningSecrets,
  TooManySecrets,
  unpacked,
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

export interface Apps {
  add(app: NewApp): Promise<AppItem>
  get(name: string): Promise<AppItem | undefined>
  list(): Promise<AppItem[]>
  change(name: string, change: AppChange): Promise<AppItem>
  /** Puts a new signing secret in front; the others are honoured for the overlap. */
  rotate(name: string, secret: string, overlapSeconds: number): Promise<AppItem>
  remove(name: string): Promise<void>
  /** Those in force, the newest first. */
  signingSecrets(app: AppItem): Promise<SigningSecrets>
}

const TRIES = 5

export function createApps(deps: { db: Db; clock: Clock; box: SecretBox }): Apps {
  const { db, clock, box } = deps
  const items = entity(db, serverTable, AppItem)
  const first = entity(db, serverTable, FirstAppItem)
  const absent = expr`attribute_not_exists(${items.attr('PK')})`
  const exists = expr`attribute_exists(${items.attr('PK')})`
  const keyOf = (name: string) => ({ PK: APPS, SK: name }) as const

  async function change(name: string, alter: (app: AppItem) => AppItem | Promise<AppItem>) {
    for (let attempt = 1; attempt <= TRIES; attempt++) {
      const before = await items.get(keyOf(name))
      if (!before) throw twoKeyError('app_not_found')
      const after = { ...(await alter(before)), revision: before.revision + 1 }
      try {
        await items.put(after, expr`${items.attr('revision')} = ${before.revision}`)
        return after
      } catch (error) {
        if (!(error instanceof ConditionFailed)) throw error
      }
    }
    throw twoKeyError('changed_meanwhile')
  }

  /** The first app there ever was has the specification's own keys. One write decides who it is. */
  async function putFirst(item: AppItem): Promise<boolean> {
    const marker = { PK: 'SLACKAPP#FIRST', SK: 'APP', name: item.SK } as const
    const isFree = expr`attribute_not_exists(${first.attr('PK')}) OR ${first.attr('name')} = ${item.SK}`
    try {
      await transact(db, [items.part.put(item, absent), first.part.put(marker, isFree)])
      return true
    } catch (error) {
      if (!(error instanceof TransactionFailed)) throw error
      if (error.conditionFailed(0)) throw twoKeyError('app_exists')
      if (error.conditionFailed(1)) return false
      throw error
    }
  }

  return {
    async add({ name, appId, signingSecret, upstream, policy }) {
      const now = epochSeconds(clock)
      const secrets = packed(firstSecret(signingSecret, now))
      const item: AppItem = {
        ...keyOf(name),
        ...(appId !== undefined && { appId }),
        isFirst: true,
        signingSecrets: await box.seal(secrets, placeOf(name)),
        upstream,
        policy,
        createdAt: now,
        revision: 1,
      }
      if (await putFirst(item)) return item
      const further = { ...item, isFirst: false }
      await items.put(further, absent).catch((error: unknown) => {
        throw error instanceof ConditionFailed ? twoKeyError('app_exists') : error
      })
      return further
    },

    get: async (name) => items.get(keyOf(name)),

    async list() {
      const { items: found } = await items.query({ key: expr`${items.attr('PK')} = ${APPS}` })
      return found
    },

    change: async (name, { appId, upstream, policy }) =>
      change(name, ({ appId: before, ...app }) => ({
        ...app,
        ...(appId === undefined && before !== undefined && { appId: before }),
        ...(typeof appId === 'string' && { appId }),
        ...(upstream && { upstream }),
        ...(policy && { policy }),
      })),

    rotate: async (name, secret, overlapSeconds) =>
      change(name, async (app) => {
        const now = epochSeconds(clock)
        const before = unpacked(await box.open(app.signingSecrets, placeOf(name)))
        try {
          const after = packed(rotated(before, secret, { now, overlapSeconds }))
          return { ...app, signingSecrets: await box.seal(after, placeOf(name)) }
        } catch (error) {
          throw error instanceof TooManySecrets ? twoKeyError('too_many_secrets') : error
        }
      }),

    async remove(name) {
      await items.delete(keyOf(name), exists).catch((error: unknown) => {
        throw error instanceof ConditionFailed ? twoKeyError('app_not_found') : error
      })
    },

    async signingSecrets(app) {
      const all = unpacked(await box.open(app.signingSecrets, placeOf(app.SK)))
      return inForce(all, epochSeconds(clock))
    },
  }
}

function placeOf(app: string): SecretPlace {
  return { service: 'two-key', tenant: app, entity: 'app', attribute: 'signingSecrets' }
}

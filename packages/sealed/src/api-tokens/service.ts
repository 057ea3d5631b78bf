/**
 * API tokens: programs that have one seal secrets without a proof of work, a limited number per hour.
 *
 * A token contains its name (`srs_{name}.{secret}`), so that verifying it is one read by key. Only a
 * hash is stored. It is read for every use, so a revoked token is refused immediately, everywhere.
 *
 * Each change is one write, so that an audit log can add its entry to the same transaction: pass a
 * `db` that does.
 */
import { createHash } from 'node:crypto'
import type { Db } from '@strongroom/kit/db'
import { conditionHeld, ConditionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { rateLimited } from '@strongroom/kit/http/rate-limit-headers'
import { randomToken } from '@strongroom/kit/ids'
import { scanAll } from '@strongroom/kit/paging'
import { createRateLimiter, type RateLimiter } from '@strongroom/kit/rate-limit'
import { serverTable } from '@strongroom/kit/server-table'
import { timingSafeEquals } from '@strongroom/kit/timing-safe-equals'
import { transactParts } from '@strongroom/kit/transact'
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import { sealedError } from '../errors.ts'
import { ApiTokenItem, ApiTokenRateItem, rateKey, tokenKey } from './item.ts'

/** An API token without its value. Times are epoch seconds. */
export interface ApiToken {
  name: string
  perHour: number
  createdAt: number
  expiresAt: number | undefined
  /** To the minute. */
  lastUsedAt: number | undefined
}

export interface NewApiToken {
  name: string
  perHour?: number | undefined
  /** How long it is valid; without a limit by default. */
  expiresInSeconds?: number | undefined
}

export interface ApiTokens {
  /** Returns the token, which is never shown again. */
  add(token: NewApiToken): Promise<ApiToken & { token: string }>
  list(): Promise<ApiToken[]>
  revoke(name: string): Promise<void>
  /**
   * Counts one secret of the token, and returns an id of the token for `findActive`. Throws if the
   * token is invalid, revoked or expired, or its limit is reached.
   */
  use(token: string): Promise<string>
  /** The same with the id of the token; false if it is no longer valid. */
  useAgain(id: string): Promise<boolean>
  /** The token with this id, if it is still valid. */
  findActive(id: string): Promise<ApiToken | undefined>
}

export const DEFAULT_PER_HOUR = 100
export const MAX_PER_HOUR = 1_000_000
/** Ten years. */
export const MAX_EXPIRY_SECONDS = 3653 * 86_400

const HOUR_SECONDS = 3_600
const MINUTE_SECONDS = 60
export const API_TOKEN_NAME = /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/
const TOKEN = /^srs_([a-z0-9-]{1,32})\.[A-Za-z0-9_-]{43}$/
/** Enough of the hash to tell a token from an earlier one of the same name. */
const ID_HASH_BYTES = 12

export function createApiTokens({ db, clock }: { db: Db; clock: Clock }): ApiTokens {
  const items = entity(db, serverTable, ApiTokenItem)
  const rates = entity(db, serverTable, ApiTokenRateItem)
  const exists = expr`attribute_exists(${items.attr('PK')})`
  const absent = expr`attribute_not_exists(${items.attr('PK')})`
  const limiters = new Map<number, RateLimiter>()

  function limiterOf(perHour: number): RateLimiter {
    let limiter = limiters.get(perHour)
    if (!limiter) {
      const limit = { name: 'hour', limit: perHour, windowSeconds: HOUR_SECONDS }
      limiter = createRateLimiter({ db, table: serverTable, clock, limits: [limit] })
      limiters.set(perHour, limiter)
    }
    return limiter
  }

  function isValid({ expiresAt }: ApiTokenItem): boolean {
    return expiresAt === undefined || expiresAt > epochSeconds(clock)
  }

  /** Written at most once a minute. False for a token that was revoked since it was read. */
  async function noteUse({ name, tokenHash, lastUsedAt }: ApiTokenItem): Promise<boolean> {
    const minute = Math.floor(epochSeconds(clock) / MINUTE_SECONDS) * MINUTE_SECONDS
    if (lastUsedAt === minute) return true
    const isSame = expr`${items.attr('tokenHash')} = ${tokenHash}`
    const update = expr`SET ${items.attr('lastUsedAt')} = ${minute}`
    return conditionHeld(items.update(tokenKey(name), update, isSame))
  }

  /** Counts one secret of a token that was found valid. False if it was revoked meanwhile. */
  async function countUse(item: ApiTokenItem): Promise<boolean> {
    const decision = await limiterOf(item.perHour).take(rateKey(item.name))
    if (!decision.admitted) throw rateLimited(decision)
    return noteUse(item)
  }

  async function findItem(id: string): Promise<ApiTokenItem | undefined> {
    const item = await items.get(tokenKey(id.slice(0, id.indexOf('.'))))
    return item !== undefined && isValid(item) && idOf(item) === id ? item : undefined
  }

  return {
    async add({ name, perHour = DEFAULT_PER_HOUR, expiresInSeconds }) {
      requireNew({ name, perHour, expiresInSeconds })
      const token = `srs_${name}.${randomToken(32)}`
      const createdAt = epochSeconds(clock)
      const item: ApiTokenItem = {
        ...tokenKey(name),
        name,
        tokenHash: hashOf(token),
        perHour,
        createdAt,
        ...(expiresInSeconds !== undefined && { expiresAt: createdAt + expiresInSeconds }),
      }
      await items.put(item, absent).catch(orThrow('api_token_exists'))
      return { ...toApiToken(item), token }
    },

    async list() {
      // A scan, because the table is small and only people read this.
      const found: ApiToken[] = []
      const filter = expr`begins_with(${items.attr('PK')}, ${'SEALEDTOKEN#'}) AND ${items.attr('SK')} = ${'TOKEN'}`
      for await (const item of scanAll(db, serverTable, { filter }, items.parse)) {
        found.push(toApiToken(item))
      }
      return found.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    },

    async revoke(name) {
      const outcome = await transactParts(db, {
        token: items.part.delete(tokenKey(name), exists),
        rate: rates.part.delete(rateKey(name)),
      })
      if (outcome.kind === 'refused') throw sealedError('api_token_not_found')
    },

    async use(token) {
      const name = TOKEN.exec(token)?.[1]
      if (name === undefined) throw unauthorized()
      const item = await items.get(tokenKey(name))
      // Compared also for an unknown token, so that both cases take the same time.
      const isSame = timingSafeEquals(item?.tokenHash ?? new Uint8Array(32), hashOf(token))
      if (!item || !isSame || !isValid(item)) throw unauthorized()
      if (!(await countUse(item))) throw unauthorized()
      return idOf(item)
    },

    async useAgain(id) {
      const item = await findItem(id)
      return item !== undefined && (await countUse(item))
    },

    async findActive(id) {
      const item = await findItem(id)
      return item && toApiToken(item)
    },
  }
}

function idOf({ name, tokenHash }: ApiTokenItem): string {
  return `${name}.${Buffer.from(tokenHash.subarray(0, ID_HASH_BYTES)).toString('base64url')}`
}

/** The token has 256 random bits, so a fast hash is as safe as a slow one. */
function hashOf(token: string): Uint8Array {
  return createHash('sha256').update(token).digest()
}

function toApiToken(item: ApiTokenItem): ApiToken {
  const { name, perHour, createdAt, expiresAt, lastUsedAt } = item
  return { name, perHour, createdAt, expiresAt, lastUsedAt }
}

function requireNew({ name, perHour, expiresInSeconds }: NewApiToken & { perHour: number }) {
  if (!API_TOKEN_NAME.test(name)) throw sealedError('invalid_api_token_name')
  const fits = (value: number, max: number) => Number.isInteger(value) && value >= 1 && value <= max
  if (!fits(perHour, MAX_PER_HOUR)) throw sealedError('invalid_api_token_limit')
  if (expiresInSeconds !== undefined && !fits(expiresInSeconds, MAX_EXPIRY_SECONDS)) {
    throw sealedError('invalid_api_token_expiry')
  }
}

function unauthorized() {
  return sealedError('invalid_api_token', { headers: { 'www-authenticate': 'Bearer' } })
}

function orThrow(code: 'api_token_exists') {
  return (error: unknown): never => {
    throw error instanceof ConditionFailed ? sealedError(code) : error
  }
}

export type ApiTokenView = ReturnType<typeof toApiTokenView>

/** As responses and commands show it: null for what is missing. */
export function toApiTokenView(token: ApiToken) {
  const { name, perHour, createdAt, expiresAt = null, lastUsedAt = null } = token
  return { name, perHour, createdAt, expiresAt, lastUsedAt }
}

/**
 * The access patterns of `sealed-secrets`. Tokens arrive as hashes. Every rule that concurrent
 * requests could break is a condition of one write.
 *
 * Only `claim` returns ciphertext.
 */
import type { Db, Item } from '@strongroom/kit/db'
import { ConditionFailed, ItemMismatch } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { all, expr } from '@strongroom/kit/expression'
import { timingSafeEquals } from '@strongroom/kit/timing-safe-equals'
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import { GRACE_SECONDS, MAX_PROOF_ATTEMPTS, MAX_VIEWS, TOKEN_SECONDS } from '../limits.ts'
import { secretsTable } from '../tables.ts'
import { ClaimAttributes, NewSecretItem, SecretItem, secretKey, TombstoneItem } from './item.ts'
import { createTombstones, lastDeadline } from './tombstone.ts'

export interface NewSecret {
  id: string
  ciphertext: string
  iv: string
  salt?: string | undefined
  passphraseProtected: boolean
  linkHash: Uint8Array
  proofHash: Uint8Array
  burnTokenHash: string
  maxViews: number
  ttlSeconds: number
  /** With a receipt: until when the creator can get it. */
  receiptUntil?: number | undefined
  /** In a request: until when its id must not become free. */
  requestUntil?: number | undefined
}

/** Proves that a reader has the link and the passphrase, and identifies the reader. */
export interface Claim {
  linkHash: Uint8Array
  proofHash: Uint8Array
  claimHash: string
}

export type ClaimOutcome =
  | { outcome: 'revealed'; secret: RevealedSecret }
  /** Only a holder of the link gets this. */
  | { outcome: 'wrong_proof'; triesLeft: number }
  | { outcome: 'not_available' }

export type RevealedSecret = Pick<
  SecretItem,
  'ciphertext' | 'iv' | 'salt' | 'passphraseProtected' | 'remainingViews'
> & {
  /** From this second the same claim uses another view. */
  deadline: number
}

export type Receipt = (
  | { state: 'pending' }
  | { state: 'viewed'; at: number }
  | { state: 'gone' }
) & {
  /** Undefined for a secret that an earlier version stored. */
  views?: { used: number; max: number }
}

export type AckOutcome = 'secret_ended' | 'claim_ended' | 'not_available'

export type FillState =
  | { state: 'free' }
  /** It holds this very secret. */
  | { state: 'same'; createdAt: number }
  | { state: 'taken' }

export interface SecretStore {
  /** False, and nothing is written, if the id was used before. */
  create(secret: NewSecret): Promise<boolean>
  /** Whether this submission can fill a request, or has filled it already. */
  findFill(
    id: string,
    submission: Pick<NewSecret, 'burnTokenHash' | 'ciphertext'>,
  ): Promise<FillState>
  /** Uses a view, or reads again under a live claim. */
  claim(id: string, claim: Claim): Promise<ClaimOutcome>
  /** Ends the claim, and in the same write the secret if nobody else can read it. */
  ack(id: string, claimHash: string): Promise<AckOutcome>
  /** Destroys the secret if the token is right. The caller cannot see whether it was. */
  burn(id: string, burnTokenHash: string): Promise<void>
  /** Undefined without a receipt and for a wrong token. */
  status(id: string, burnTokenHash: string): Promise<Receipt | undefined>
  /**
   * Destroys a secret that has ended. For one that has not, returns the second at which to try again.
   * Call it after the response, so that the response time does not depend on it.
   */
  endIfOver(id: string): Promise<number | undefined>
}

export function createSecretStore({
  db,
  clock,
  onExpired,
}: {
  db: Db
  clock: Clock
  /** Called when a secret ended because of its age. */
  onExpired?: () => void
}): SecretStore {
  const secrets = entity(db, secretsTable, SecretItem)
  const newSecrets = entity(db, secretsTable, NewSecretItem)
  const tombstones = entity(db, secretsTable, TombstoneItem)
  const { endCondition, end, endAcknowledged } = createTombstones(db)
  const attr = secrets.attr
  const isUnused = expr`attribute_not_exists(${attr('id')})`

  async function read(id: string): Promise<SecretItem | TombstoneItem | undefined> {
    const { Item: stored } = await db.getItem({
      TableName: secretsTable.name,
      Key: secretKey(id),
      ConsistentRead: true,
    })
    return stored && parse(stored)
  }

  const parse = (stored: Item) =>
    'ciphertext' in stored ? secrets.parse(stored) : tombstones.parse(stored)

  /** The only write that uses a view. All rules are in its condition. */
  async function takeView(
    seen: SecretItem,
    { linkHash, proofHash, claimHash }: Claim,
    now: number,
  ): Promise<ClaimOutcome> {
    const views = attr('remainingViews')
    const deadline = attr('claims', claimHash)
    // DynamoDB has neither min nor max. Their inputs never change while a view is left.
    const graceEnd = Math.min(seen.expiresAt, now + GRACE_SECONDS)
    const itemEnd = Math.max(
      now + GRACE_SECONDS,
      seen.createdAt + TOKEN_SECONDS,
      seen.receiptUntil ?? 0,
      seen.requestUntil ?? 0,
    )
    const take = expr`SET ${views} = ${views} - ${1}, ${attr('lastAccessAt')} = ${now},
      ${attr('lastAccessToken')} = ${claimHash}, ${deadline} = ${graceEnd}`
    const condition = all(
      expr`${attr('linkHash')} = ${linkHash} AND ${attr('proofHash')} = ${proofHash}`,
      expr`${attr('triesLeft')} > ${0}`,
      // Unchanged since it was read, so that it is known whether this view is the last.
      expr`${views} = ${seen.remainingViews}`,
      expr`${attr('expiresAt')} > ${now}`,
      expr`attribute_not_exists(${deadline}) OR ${deadline} <= ${now}`,
    )
    const isLast = seen.remainingViews === 1
    const update = isLast ? expr`${take}, ${attr('expiresAt')} = ${itemEnd}` : take
    await secrets.change({ id: seen.id }, update, condition)
    return toRevealed({ ...seen, remainingViews: seen.remainingViews - 1 }, graceEnd)
  }

  async function endIfPossible(secret: SecretItem): Promise<boolean> {
    const now = epochSeconds(clock)
    const condition = endCondition(secret, now)
    if (!condition) return false
    await end(secret, condition, now)
    return true
  }

  async function countWrongProof(seen: SecretItem, claim: Claim, now: number) {
    const { linkHash, proofHash, claimHash } = claim
    const triesLeft = attr('triesLeft')
    const deadline = attr('claims', claimHash)
    const counted = await secrets
      .update(
        { id: seen.id },
        expr`SET ${triesLeft} = ${triesLeft} - ${1}`,
        all(
          expr`${attr('linkHash')} = ${linkHash} AND ${attr('proofHash')} <> ${proofHash}`,
          expr`${triesLeft} > ${0} AND ${attr('expiresAt')} > ${now}`,
          expr`${attr('remainingViews')} > ${0} OR ${deadline} > ${now}`,
        ),
      )
      .catch(undefinedIfConditionFailed)
    if (!counted) return notAvailable
    if (counted.triesLeft === 0) await end(counted, expr`${triesLeft} = ${0}`, now)
    return { outcome: 'wrong_proof', triesLeft: counted.triesLeft } as const
  }

  return {
    async create(secret) {
      const { burnTokenHash, salt, receiptUntil, requestUntil } = secret
      const createdAt = epochSeconds(clock)
      const item: NewSecretItem = {
        id: secret.id,
        ciphertext: secret.ciphertext,
        iv: secret.iv,
        passphraseProtected: secret.passphraseProtected,
        linkHash: secret.linkHash,
        proofHash: secret.proofHash,
        remainingViews: secret.maxViews,
        burnToken: burnTokenHash,
        createdAt,
        expiresAt: createdAt + secret.ttlSeconds,
        triesLeft: MAX_PROOF_ATTEMPTS,
        claims: {},
      }
      if (salt !== undefined) item.salt = salt
      if (receiptUntil !== undefined) {
        item.receiptUntil = receiptUntil
        item.maxViews = secret.maxViews
      }
      if (requestUntil !== undefined) item.requestUntil = requestUntil
      try {
        await newSecrets.put(item, isUnused)
        return true
      } catch (error) {
        if (!(error instanceof ConditionFailed)) throw error
        // After a lost response the put is repeated and finds its own item.
        const { burnToken, ciphertext } = error.item ?? {}
        return burnToken === burnTokenHash && ciphertext === secret.ciphertext
      }
    },

    async findFill(id, { burnTokenHash, ciphertext }) {
      const seen = await read(id)
      if (!seen) return { state: 'free' }
      const isSame =
        isSecret(seen) &&
        timingSafeEquals(seen.burnToken, burnTokenHash) &&
        seen.ciphertext === ciphertext
      return isSame ? { state: 'same', createdAt: seen.createdAt } : { state: 'taken' }
    },

    async claim(id, claim) {
      requireClaimHash(id, claim.claimHash)
      let seen = await read(id)
      // Each failed attempt returns an item with fewer views, so that a few attempts are enough.
      for (let attempt = 0; attempt < MAX_VIEWS + 2; attempt++) {
        const now = epochSeconds(clock)
        if (!isSecret(seen) || seen.triesLeft === 0) return notAvailable
        if (!timingSafeEquals(seen.linkHash, claim.linkHash)) return notAvailable
        const isRight = timingSafeEquals(seen.proofHash, claim.proofHash)
        const deadline = seen.claims[claim.claimHash] ?? 0
        const isLive = deadline > now
        if (isRight && isLive) return toRevealed(seen, deadline)
        // A reader with a live claim may mistype the passphrase, which must not look like an ended secret.
        if (!isLive && (seen.remainingViews === 0 || seen.expiresAt <= now)) return notAvailable
        if (!isRight) return countWrongProof(seen, claim, now)
        try {
          return await takeView(seen, claim, now)
        } catch (error) {
          if (!(error instanceof ConditionFailed)) throw error
          seen = error.item && parse(error.item)
        }
      }
      throw new Error('claim failed: too many concurrent writes to one secret')
    },

    async ack(id, claimHash) {
      requireClaimHash(id, claimHash)
      const key = secretKey(id)
      const result = await endAcknowledged(key.id, claimHash)
      if (result.hasEnded) return 'secret_ended'
      // Before it is parsed, so that a damaged item looks like a missing one without its claim.
      if (!hasClaim(result.item, claimHash)) return 'not_available'
      const seen = secrets.parse(result.item)
      const { [claimHash]: _, ...claims } = seen.claims
      if (await endIfPossible({ ...seen, claims })) return 'secret_ended'
      const deadline = attr('claims', claimHash)
      const left = await secrets
        .update(key, expr`REMOVE ${deadline}`, expr`attribute_exists(${deadline})`)
        .catch(undefinedIfConditionFailed)
      if (!left) return 'not_available'
      // Another reader may have acknowledged at the same time.
      return (await endIfPossible(left)) ? 'secret_ended' : 'claim_ended'
    },

    async burn(id, burnTokenHash) {
      const seen = await read(id)
      if (!isSecret(seen) || !timingSafeEquals(seen.burnToken, burnTokenHash)) return
      await end(seen, expr`${attr('burnToken')} = ${burnTokenHash}`, epochSeconds(clock))
    },

    async status(id, burnTokenHash) {
      const item = await read(id)
      const now = epochSeconds(clock)
      if (!item?.burnToken || !timingSafeEquals(item.burnToken, burnTokenHash)) return undefined
      const until = isSecret(item) ? item.receiptUntil : item.expiresAt
      if (until === undefined || until <= now) return undefined
      const views = countViews(item)
      if (item.lastAccessAt !== undefined)
        return { state: 'viewed', at: item.lastAccessAt, ...views }
      const isPending = isSecret(item) && !endCondition(item, now)
      return { state: isPending ? 'pending' : 'gone', ...views }
    },

    async endIfOver(id) {
      const seen = await read(id)
      if (!isSecret(seen)) return undefined
      const now = epochSeconds(clock)
      const condition = endCondition(seen, now)
      if (!condition) return seen.remainingViews === 0 ? lastDeadline(seen, now) : seen.expiresAt
      await end(seen, condition, now)
      if (seen.expiresAt <= now && seen.remainingViews > 0) onExpired?.()
      return undefined
    },
  }
}

function requireClaimHash(id: string, lastAccessToken: string) {
  const { error } = ClaimAttributes.safeParse({ lastAccessToken })
  if (error) throw new ItemMismatch(secretsTable, { id }, 'write', error)
}

const notAvailable = { outcome: 'not_available' } as const

function toRevealed(item: SecretItem, deadline: number): ClaimOutcome {
  const { ciphertext, iv, salt, passphraseProtected, remainingViews } = item
  return {
    outcome: 'revealed',
    secret: { ciphertext, iv, salt, passphraseProtected, remainingViews, deadline },
  }
}

function countViews({
  maxViews: max,
  remainingViews: left,
}: SecretItem | TombstoneItem): Pick<Receipt, 'views'> {
  return max === undefined || left === undefined ? {} : { views: { used: max - left, max } }
}

function isSecret(item: SecretItem | TombstoneItem | undefined): item is SecretItem {
  return item !== undefined && 'ciphertext' in item
}

function hasClaim(item: Item | undefined, claimHash: string): item is Item {
  const claims = item?.['claims']
  return typeof claims === 'object' && claims !== null && Object.hasOwn(claims, claimHash)
}

function undefinedIfConditionFailed(error: unknown): undefined {
  if (!(error instanceof ConditionFailed)) throw error
}

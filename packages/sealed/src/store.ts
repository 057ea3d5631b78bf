/**
 * The access patterns of `sealed-secrets`. Tokens arrive here as their hashes; what is right about
 * a secret under concurrency is a condition of one write.
 *
 * Ciphertext leaves the store through `claim` only.
 */
import { timingSafeEqual } from 'node:crypto'
import { type Clock, epochSeconds } from '@strongroom/kit/clock'
import type { Db, Item } from '@strongroom/kit/db'
import { ConditionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { all, expr } from '@strongroom/kit/expression'
import { ItemMismatch } from '@strongroom/kit/item-mismatch'
import { createEnding, lastDeadline } from './ending.ts'
import {
  ClaimAttributes,
  GRACE_SECONDS,
  MOST_VIEWS,
  NewSecretItem,
  PROOF_TRIES,
  SecretItem,
  secretKey,
  secretsTable,
  TOKEN_SECONDS,
  TombstoneItem,
} from './table.ts'

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
  /** With a receipt: until when the creator may ask what became of the secret. */
  receiptUntil?: number | undefined
}

/** What a reader proves: that it holds the link, that it knows the passphrase, and who it is. */
export interface Claim {
  linkHash: Uint8Array
  proofHash: Uint8Array
  claimHash: string
}

export type ClaimOutcome =
  | { outcome: 'revealed'; secret: RevealedSecret }
  /** Told to holders of the link only. */
  | { outcome: 'wrong_proof'; triesLeft: number }
  | { outcome: 'not_available' }

export type RevealedSecret = Pick<
  SecretItem,
  'ciphertext' | 'iv' | 'salt' | 'passphraseProtected' | 'remainingViews'
> & {
  /** The second from which the same claim counts as a new view. */
  deadline: number
}

export type Receipt = { state: 'pending' } | { state: 'viewed'; at: number } | { state: 'gone' }

export interface SecretStore {
  /** False if the id was used before: then nothing is written. */
  create(secret: NewSecret): Promise<boolean>
  /** Spends a view, or reads again under a claim that is live. */
  claim(id: string, claim: Claim): Promise<ClaimOutcome>
  /** The reader has it: its claim ends, and the secret with it if nothing of it is left. */
  ack(id: string, claimHash: string): Promise<void>
  /** Destroys the secret if the token is right. Tells nobody whether it was. */
  burn(id: string, burnTokenHash: string): Promise<void>
  /** What became of a secret with a receipt; undefined for everything and everyone else. */
  status(id: string, burnTokenHash: string): Promise<Receipt | undefined>
  /**
   * Destroys what is left of a secret that is over, and returns the second from which to look
   * again, if any. To be called after the answer, so that the answer takes no longer for it.
   */
  reduce(id: string): Promise<number | undefined>
}

export function createSecretStore({ db, clock }: { db: Db; clock: Clock }): SecretStore {
  const secrets = entity(db, secretsTable, SecretItem)
  const newSecrets = entity(db, secretsTable, NewSecretItem)
  const tombstones = entity(db, secretsTable, TombstoneItem)
  const { reason, end } = createEnding(db)
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

  /** The one write that takes a view. All of the rules are in its condition. */
  async function takeView(
    seen: SecretItem,
    { linkHash, proofHash, claimHash }: Claim,
    now: number,
  ): Promise<ClaimOutcome> {
    const views = attr('remainingViews')
    const deadline = attr('claims', claimHash)
    // DynamoDB has neither min nor max; what these are made of never changes while a view is left.
    const graceEnd = Math.min(seen.expiresAt, now + GRACE_SECONDS)
    const itemEnd = Math.max(
      now + GRACE_SECONDS,
      seen.createdAt + TOKEN_SECONDS,
      seen.receiptUntil ?? 0,
    )
    const take = expr`SET ${views} = ${views} - ${1}, ${attr('lastAccessAt')} = ${now},
      ${attr('lastAccessToken')} = ${claimHash}, ${deadline} = ${graceEnd}`
    const condition = all(
      expr`${attr('linkHash')} = ${linkHash} AND ${attr('proofHash')} = ${proofHash}`,
      expr`${attr('triesLeft')} > ${0}`,
      // As it was seen: then it is known whether this view is the last, and what is left after it.
      expr`${views} = ${seen.remainingViews}`,
      expr`${attr('expiresAt')} > ${now}`,
      expr`attribute_not_exists(${deadline}) OR ${deadline} <= ${now}`,
    )
    const isLast = seen.remainingViews === 1
    const update = isLast ? expr`${take}, ${attr('expiresAt')} = ${itemEnd}` : take
    await secrets.change({ id: seen.id }, update, condition)
    return revealed({ ...seen, remainingViews: seen.remainingViews - 1 }, graceEnd)
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
      .catch(undefinedIfRefused)
    if (!counted) return notAvailable
    if (counted.triesLeft === 0) await end(counted, expr`${triesLeft} = ${0}`, now)
    return { outcome: 'wrong_proof', triesLeft: counted.triesLeft } as const
  }

  return {
    async create(secret) {
      const { burnTokenHash, salt, receiptUntil } = secret
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
        triesLeft: PROOF_TRIES,
        claims: {},
      }
      if (salt !== undefined) item.salt = salt
      if (receiptUntil !== undefined) item.receiptUntil = receiptUntil
      try {
        await newSecrets.put(item, isUnused)
        return true
      } catch (error) {
        if (!(error instanceof ConditionFailed)) throw error
        // A client that repeats a put whose answer got lost meets its own item.
        return error.item?.burnToken === burnTokenHash && 'ciphertext' in error.item
      }
    },

    async claim(id, claim) {
      requireClaimHash(id, claim.claimHash)
      let seen = await read(id)
      // Whoever is refused sees a secret with fewer views, so that few attempts are ever needed.
      for (let attempt = 0; attempt < MOST_VIEWS + 2; attempt++) {
        const now = epochSeconds(clock)
        if (!isSecret(seen) || seen.triesLeft === 0) return notAvailable
        if (!isSame(seen.linkHash, claim.linkHash)) return notAvailable
        const isRight = isSame(seen.proofHash, claim.proofHash)
        const deadline = seen.claims[claim.claimHash] ?? 0
        const isLive = deadline > now
        if (isRight && isLive) return revealed(seen, deadline)
        // Whoever reads again may mistype the passphrase: that must not look like the end.
        if (!isLive && (seen.remainingViews === 0 || seen.expiresAt <= now)) return notAvailable
        if (!isRight) return countWrongProof(seen, claim, now)
        try {
          return await takeView(seen, claim, now)
        } catch (error) {
          if (!(error instanceof ConditionFailed)) throw error
          seen = error.item && parse(error.item)
        }
      }
      throw new Error('Cannot claim a secret: it changes faster than it can be read')
    },

    async ack(id, claimHash) {
      requireClaimHash(id, claimHash)
      const deadline = attr('claims', claimHash)
      const left = await secrets
        .update(secretKey(id), expr`REMOVE ${deadline}`, expr`attribute_exists(${deadline})`)
        .catch(undefinedIfRefused)
      if (!left) return
      const now = epochSeconds(clock)
      const over = reason(left, now)
      if (over) await end(left, over, now)
    },

    async burn(id, burnTokenHash) {
      const seen = await read(id)
      if (!isSecret(seen) || !isSameText(seen.burnToken, burnTokenHash)) return
      await end(seen, expr`${attr('burnToken')} = ${burnTokenHash}`, epochSeconds(clock))
    },

    async status(id, burnTokenHash) {
      const item = await read(id)
      const now = epochSeconds(clock)
      if (!item?.burnToken || !isSameText(item.burnToken, burnTokenHash)) return undefined
      const until = isSecret(item) ? item.receiptUntil : item.expiresAt
      if (until === undefined || until <= now) return undefined
      if (item.lastAccessAt !== undefined) return { state: 'viewed', at: item.lastAccessAt }
      return isSecret(item) && !reason(item, now) ? { state: 'pending' } : { state: 'gone' }
    },

    async reduce(id) {
      const seen = await read(id)
      if (!isSecret(seen)) return undefined
      const now = epochSeconds(clock)
      const over = reason(seen, now)
      if (!over) return seen.remainingViews === 0 ? lastDeadline(seen, now) : seen.expiresAt
      await end(seen, over, now)
      return undefined
    },
  }
}

function requireClaimHash(id: string, lastAccessToken: string) {
  const { error } = ClaimAttributes.safeParse({ lastAccessToken })
  if (error) throw new ItemMismatch(secretsTable, { id }, 'write', error)
}

const notAvailable = { outcome: 'not_available' } as const

function revealed(item: SecretItem, deadline: number): ClaimOutcome {
  const { ciphertext, iv, salt, passphraseProtected, remainingViews } = item
  return {
    outcome: 'revealed',
    secret: { ciphertext, iv, salt, passphraseProtected, remainingViews, deadline },
  }
}

function isSecret(item: SecretItem | TombstoneItem | undefined): item is SecretItem {
  return item !== undefined && 'ciphertext' in item
}

function isSame(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && timingSafeEqual(left, right)
}

function isSameText(left: string, right: string): boolean {
  return isSame(Buffer.from(left), Buffer.from(right))
}

function undefinedIfRefused(error: unknown): undefined {
  if (!(error instanceof ConditionFailed)) throw error
}

/** Decides when a secret has ended, and replaces it by its tombstone in one write. */
import type { Db, Item } from '@strongroom/kit/db'
import { ConditionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { all, expr, Expression, sizeOf } from '@strongroom/kit/expression'
import { TOKEN_SECONDS } from '../limits.ts'
import { secretsTable } from '../tables.ts'
import { SecretItem, TombstoneItem } from './item.ts'

export interface Tombstones {
  /** The condition under which the secret has ended; undefined if it has not. */
  endCondition(secret: SecretItem, now: number): Expression | undefined
  /** Leaves only the tombstone. Does nothing if the condition no longer holds or it has ended already. */
  end(secret: SecretItem, condition: Expression, now: number): Promise<void>
  /**
   * Ends a secret that only this claim can still read, without reading it first. In all other cases
   * nothing changes, and the stored item is returned.
   */
  endAcknowledged(
    id: string,
    claimHash: string,
  ): Promise<{ hasEnded: true } | { hasEnded: false; item: Item | undefined }>
}

export function createTombstones(db: Db): Tombstones {
  const secrets = entity(db, secretsTable, SecretItem)
  const tombstones = entity(db, secretsTable, TombstoneItem)
  const views = secrets.attr('remainingViews')
  const triesLeft = secrets.attr('triesLeft')
  const expiresAt = secrets.attr('expiresAt')
  const ciphertext = secrets.attr('ciphertext')
  const attributes = Object.keys(SecretItem.shape) as (keyof SecretItem)[]

  function removeAllBut(kept: (keyof SecretItem)[]): Expression {
    const removed = attributes.filter((name) => !kept.includes(name))
    const commas = removed.slice(1).map(() => ', ')
    return new Expression(
      ['REMOVE ', ...commas, ''],
      removed.map((name) => secrets.attr(name)),
    )
  }

  // The last view set `expiresAt` so that the tombstone outlives the creation token and the request.
  const removeSecret = removeAllBut(['id', 'expiresAt'])
  const noView = expr`${views} = ${0}`
  const oneClaim = expr`${sizeOf(secrets.attr('claims'))} = ${1}`
  const noReceipt = expr`attribute_not_exists(${secrets.attr('receiptUntil')})`

  return {
    async endAcknowledged(id, claimHash) {
      const isLast = expr`attribute_exists(${secrets.attr('claims', claimHash)})`
      try {
        await tombstones.change({ id }, removeSecret, all(isLast, noView, oneClaim, noReceipt))
        return { hasEnded: true }
      } catch (error) {
        if (!(error instanceof ConditionFailed)) throw error
        return { hasEnded: false, item: error.item }
      }
    },

    endCondition(secret, now) {
      if (secret.expiresAt <= now) return expr`${expiresAt} <= ${now}`
      if (secret.triesLeft === 0) return expr`${triesLeft} = ${0}`
      // Without a view left no write adds a claim, so this condition cannot become false again.
      if (secret.remainingViews === 0 && lastDeadline(secret, now) === undefined) return noView
      return undefined
    },

    async end(secret, condition, now) {
      const { id, createdAt, receiptUntil, requestUntil = 0 } = secret
      // The tombstone keeps the receipt, or blocks the id while a token for it is valid.
      const until = Math.max(receiptUntil ?? createdAt + TOKEN_SECONDS, requestUntil)
      const stillExists = all(condition, expr`attribute_exists(${ciphertext})`)
      if (until <= now) {
        await secrets.delete({ id }, stillExists).catch(ignoreConditionFailed)
        return
      }
      const kept: (keyof SecretItem)[] = ['id', 'expiresAt']
      // An update instead of a put, so that the receipt shows a view taken at the same time.
      if (receiptUntil !== undefined)
        kept.push('burnToken', 'lastAccessAt', 'remainingViews', 'maxViews')
      await tombstones
        .change({ id }, expr`SET ${expiresAt} = ${until} ${removeAllBut(kept)}`, stillExists)
        .catch(ignoreConditionFailed)
    },
  }
}

/** When the last live claim ends; undefined if none is live. */
export function lastDeadline({ claims }: SecretItem, now: number): number | undefined {
  const live = Object.values(claims).filter((deadline) => deadline > now)
  return live.length === 0 ? undefined : Math.max(...live)
}

/** A failed condition means that the secret has ended already or must not end. */
function ignoreConditionFailed(error: unknown): void {
  if (!(error instanceof ConditionFailed)) throw error
}

/** When a secret has ended, and the one write that leaves only its tombstone. */
import type { Db } from '@strongroom/kit/db'
import { ConditionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { all, expr, Expression } from '@strongroom/kit/expression'
import { SecretItem, secretsTable, TOKEN_SECONDS, TombstoneItem } from './table.ts'

export interface Ending {
  /** Why the secret is over now, as the condition that must still hold when it is ended. */
  reason(secret: SecretItem, now: number): Expression | undefined
  /** Leaves only the tombstone if the condition holds and there is none yet; else does nothing. */
  end(secret: SecretItem, condition: Expression, now: number): Promise<void>
}

export function createEnding(db: Db): Ending {
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

  return {
    reason(secret, now) {
      if (secret.expiresAt <= now) return expr`${expiresAt} <= ${now}`
      if (secret.triesLeft === 0) return expr`${triesLeft} = ${0}`
      // Without a view left claims can only run out: no write adds one.
      if (secret.remainingViews === 0 && lastDeadline(secret, now) === undefined)
        return expr`${views} = ${0}`
      return undefined
    },

    async end(secret, condition, now) {
      const { id, createdAt, receiptUntil } = secret
      // A receipt outlives the secret, and every secret its token.
      const until = receiptUntil ?? createdAt + TOKEN_SECONDS
      const notEndedYet = all(condition, expr`attribute_exists(${ciphertext})`)
      if (until <= now) {
        await secrets.delete({ id }, notEndedYet).catch(unlessRefused)
        return
      }
      const kept: (keyof SecretItem)[] = ['id', 'expiresAt']
      // An update and not a put: a view that is taken meanwhile must show in the receipt.
      if (receiptUntil !== undefined) kept.push('burnToken', 'lastAccessAt')
      await tombstones
        .change({ id }, expr`SET ${expiresAt} = ${until} ${removeAllBut(kept)}`, notEndedYet)
        .catch(unlessRefused)
    },
  }
}

/** Until when the last of the live claims may read again; undefined if none is live. */
export function lastDeadline({ claims }: SecretItem, now: number): number | undefined {
  const live = Object.values(claims).filter((deadline) => deadline > now)
  return live.length === 0 ? undefined : Math.max(...live)
}

/** Refused means that it has ended already, or not at all. */
function unlessRefused(error: unknown): void {
  if (!(error instanceof ConditionFailed)) throw error
}

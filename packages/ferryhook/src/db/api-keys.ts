import { createHash } from 'node:crypto'
import { ConditionFailed, TransactionFailed } from '@strongroom/kit/db-errors'
import { entity, transact } from '@strongroom/kit/entity'
import { type Expression, expr } from '@strongroom/kit/expression'
import { newId, randomToken } from '@strongroom/kit/ids'
import { written } from '@strongroom/kit/written'
import { type ApiKey, apiKeyByHash, apiKeyById, ApiKeyItem, apiKeyKey } from '../items/api-key.ts'
import { UserItem, userKey } from '../items/user.ts'
import { mainTable } from '../table.ts'
import type { AuditParts, Logged } from './audit.ts'
import type { DataLayerDeps } from './deps.ts'
import { Refused } from './refused.ts'
import { isoNow } from './times.ts'

export type CreateApiKeyInput = Pick<ApiKey, 'name' | 'permissions'>

const PREFIX = 'fh_live_'

/** A key that is used all the time would be one hot item: its last use is told to the minute. */
const LAST_USED_PRECISION_MS = 60_000

/** The key has 256 random bits, so a plain hash is as good as a slow one. */
export function hashApiKey(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

export function createApiKeys({
  db,
  clock,
  audit,
}: Pick<DataLayerDeps, 'db' | 'clock'> & { audit: AuditParts }) {
  const keys = entity(db, mainTable, ApiKeyItem)
  const users = entity(db, mainTable, UserItem)
  const exists = expr`attribute_exists(${keys.attr('PK')})`

  /** Where an index says the key is; whether it is still there only the table knows. */
  async function find(index: 'GSI2' | 'GSI3', key: Expression): Promise<ApiKey | undefined> {
    const { items } = await keys.query({ index, key, limit: 1 })
    return items[0]
  }

  /** A new key, and what puts it into the store. */
  function make(userId: string, input: CreateApiKeyInput, { by }: Logged = {}) {
    const key = `${PREFIX}${randomToken(32)}`
    const [keyId, keyHash] = [newId('key'), hashApiKey(key)]
    const apiKey: ApiKey = {
      ...apiKeyKey.of({ userId, keyId }),
      ...apiKeyByHash.of({ keyHash }),
      ...apiKeyById.of({ keyId }),
      keyId,
      userId,
      name: input.name,
      keyHash,
      keyPrefix: key.slice(PREFIX.length, PREFIX.length + 8),
      permissions: input.permissions,
      createdAt: isoNow(clock),
    }
    const absent = expr`attribute_not_exists(${keys.attr('PK')})`
    const logged = audit.parts(by, { userId, target: keyId })
    return { key, apiKey, parts: [keys.part.put(apiKey, absent), ...logged] }
  }

  return {
    /** For the transaction that makes its user, too. */
    make,

    /** The key itself is told here and never again. Refused with `not_found` if its user must be there. */
    async create(
      userId: string,
      input: CreateApiKeyInput,
      { withinAccount = false, by }: Logged & { withinAccount?: boolean } = {},
    ): Promise<{ key: string; apiKey: ApiKey }> {
      const { key, apiKey, parts } = make(userId, input, { by })
      const isThere = expr`attribute_exists(${users.attr('PK')})`
      const owner = withinAccount ? [users.part.check(userKey.of({ userId }), isThere)] : []
      await transact(db, [...owner, ...parts]).catch((error: unknown) => {
        const isGone =
          withinAccount && error instanceof TransactionFailed && error.conditionFailed(0)
        throw isGone ? new Refused('not_found', { cause: error }) : error
      })
      return { key, apiKey }
    },

    /** A deleted key is refused at once, although the index may still have it. */
    async getByHash(keyHash: string): Promise<ApiKey | null> {
      const { GSI2PK, GSI2SK } = apiKeyByHash.of({ keyHash })
      const found = await find(
        'GSI2',
        expr`${keys.attr('GSI2PK')} = ${GSI2PK} AND ${keys.attr('GSI2SK')} = ${GSI2SK}`,
      )
      return (found && (await keys.get(apiKeyKey.of(found)))) ?? null
    },

    async listByUser(userId: string): Promise<ApiKey[]> {
      const { PK, SK } = apiKeyKey.of({ userId, keyId: '' })
      const { items } = await keys.query({
        key: expr`${keys.attr('PK')} = ${PK} AND begins_with(${keys.attr('SK')}, ${SK})`,
      })
      return items
    },

    async delete(keyId: string, userId: string, { by }: Logged = {}): Promise<void> {
      const isDeleted = await written(
        transact(db, [
          keys.part.delete(apiKeyKey.of({ userId, keyId }), exists),
          ...audit.parts(by, { userId, target: keyId }),
        ]),
      )
      if (!isDeleted) throw new Refused('not_found')
    },

    /** Who knows the user need not ask the index. */
    async updateLastUsed(keyId: string, { userId }: { userId?: string } = {}): Promise<void> {
      const { GSI3PK, GSI3SK } = apiKeyById.of({ keyId })
      const owner =
        userId ??
        (
          await find(
            'GSI3',
            expr`${keys.attr('GSI3PK')} = ${GSI3PK} AND ${keys.attr('GSI3SK')} = ${GSI3SK}`,
          )
        )?.userId
      if (owner === undefined) throw new Refused('not_found')
      const lastUsedAt = keys.attr('lastUsedAt')
      const justNow = new Date(clock.now() - LAST_USED_PRECISION_MS).toISOString()
      try {
        await keys.update(
          apiKeyKey.of({ userId: owner, keyId }),
          expr`SET ${lastUsedAt} = ${isoNow(clock)}`,
          expr`${exists} AND (attribute_not_exists(${lastUsedAt}) OR ${lastUsedAt} <= ${justNow})`,
        )
      } catch (error) {
        if (!(error instanceof ConditionFailed)) throw error
        if (!error.item) throw new Refused('not_found')
      }
    },
  }
}

export type ApiKeys = ReturnType<typeof createApiKeys>

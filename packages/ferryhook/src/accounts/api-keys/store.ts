import { createHash } from 'node:crypto'
import { ConditionFailed, conditionHeld, TransactionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { all, expr } from '@strongroom/kit/expression'
import { newId, randomToken } from '@strongroom/kit/ids'
import { transact } from '@strongroom/kit/transact'
import { absent, equalsOrAbsent, exists, indexKey, startsWith } from '../../storage/conditions.ts'
import { isoNow } from '../../storage/time.ts'
import { WriteRejected } from '../../storage/write-rejected.ts'
import type { StoreDeps } from '../../stores.ts'
import { mainTable } from '../../tables.ts'
import type { Audited, AuditWriter } from '../audit/store.ts'
import { type User, UserItem, userKey } from '../users/item.ts'
import { type ApiKey, apiKeyByHash, apiKeyById, ApiKeyItem, apiKeyKey } from './item.ts'

export type CreateApiKeyInput = Pick<ApiKey, 'name' | 'permissions'>

const PREFIX = 'fh_live_'

/** A busy key would become a hot item, so its last use is precise to the minute. */
const LAST_USED_PRECISION_MS = 60_000

/** The key has 256 random bits, so it needs no slow hash. */
export function hashApiKey(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

export type ApiKeyStore = ReturnType<typeof createApiKeyStore>

export function createApiKeyStore({
  db,
  clock,
  audit,
}: Pick<StoreDeps, 'db' | 'clock'> & { audit: AuditWriter }) {
  const keys = entity(db, mainTable, ApiKeyItem)
  const users = entity(db, mainTable, UserItem)

  /** Locates a key. The index may be stale, so callers read the item itself. */
  async function find(
    index: 'GSI2' | 'GSI3',
    key: Record<string, string>,
  ): Promise<ApiKey | undefined> {
    const { items } = await keys.query({ index, key: indexKey(key), limit: 1 })
    return items[0]
  }

  /** A new key and the transaction parts that store it. */
  function make(userId: string, input: CreateApiKeyInput, { by }: Audited = {}) {
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
    const changes = [
      { name: 'name', after: input.name },
      { name: 'permissions', after: input.permissions },
    ]
    const auditParts = audit.parts(by && { ...by, changes }, { userId, target: keyId })
    return { key, apiKey, parts: [keys.part.put(apiKey, absent), ...auditParts] }
  }

  return {
    make,

    /**
     * Returns the key itself, which cannot be shown again. Rejects with `not_found` unless the expected
     * user exists with the same password: a request that a password reset overtook creates no key.
     */
    async create(
      userId: string,
      input: CreateApiKeyInput,
      { expected, by }: Audited & { expected?: Pick<User, 'passwordHash'> } = {},
    ): Promise<{ key: string; apiKey: ApiKey }> {
      const { key, apiKey, parts } = make(userId, input, { by })
      const isSame =
        expected && all(exists, equalsOrAbsent(users.attr('passwordHash'), expected.passwordHash))
      const owner = isSame ? [users.part.check(userKey.of({ userId }), isSame)] : []
      await transact(db, [...owner, ...parts]).catch((error: unknown) => {
        const isUserMissing =
          isSame && error instanceof TransactionFailed && error.conditionFailed(0)
        throw isUserMissing ? new WriteRejected('not_found', { cause: error }) : error
      })
      return { key, apiKey }
    },

    /** Reads the item, because the index may still have a deleted key. */
    async getByHash(keyHash: string): Promise<ApiKey | null> {
      const found = await find('GSI2', apiKeyByHash.of({ keyHash }))
      return (found && (await keys.get(apiKeyKey.of(found)))) ?? null
    },

    async listByUser(userId: string): Promise<ApiKey[]> {
      const { items } = await keys.query({ key: startsWith(apiKeyKey.of({ userId, keyId: '' })) })
      return items
    },

    async delete(keyId: string, userId: string, { by }: Audited = {}): Promise<void> {
      const isDeleted = await conditionHeld(
        transact(db, [
          keys.part.delete(apiKeyKey.of({ userId, keyId }), exists),
          ...audit.parts(by, { userId, target: keyId }),
        ]),
      )
      if (!isDeleted) throw new WriteRejected('not_found')
    },

    /** Without the user id, an index locates the key. */
    async updateLastUsed(keyId: string, { userId }: { userId?: string } = {}): Promise<void> {
      const owner = userId ?? (await find('GSI3', apiKeyById.of({ keyId })))?.userId
      if (owner === undefined) throw new WriteRejected('not_found')
      const lastUsedAt = keys.attr('lastUsedAt')
      const minuteAgo = new Date(clock.now() - LAST_USED_PRECISION_MS).toISOString()
      try {
        await keys.update(
          apiKeyKey.of({ userId: owner, keyId }),
          expr`SET ${lastUsedAt} = ${isoNow(clock)}`,
          expr`${exists} AND (attribute_not_exists(${lastUsedAt}) OR ${lastUsedAt} <= ${minuteAgo})`,
        )
      } catch (error) {
        if (!(error instanceof ConditionFailed)) throw error
        if (!error.item) throw new WriteRejected('not_found')
      }
    },
  }
}

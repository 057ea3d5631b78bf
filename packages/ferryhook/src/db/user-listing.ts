/** All users, for operators. A scan: people look at it now and then, and no request depends on it. */
import type { Item } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { type User, UserItem } from '../items/user.ts'
import { mainTable } from '../table.ts'
import type { DataLayerDeps, PaginatedResult } from './deps.ts'
import type { PageOpts } from './live-page.ts'

const SCOPE = ['ferryhook.users'] as const

/** Most items of the table are not users. */
const READ_AT_ONCE = 200

export function createUserListing({ db, cursors }: Pick<DataLayerDeps, 'db' | 'cursors'>) {
  const users = entity(db, mainTable, UserItem)

  return {
    /** In no particular order. */
    async list(opts: PageOpts = {}): Promise<PaginatedResult<User>> {
      const limit = Math.min(Math.max(opts.limit ?? 50, 1), 100)
      const found: Item[] = []
      let after: Item | undefined = opts.cursor ? cursors.open(SCOPE, opts.cursor) : undefined
      do {
        const page = await db.scan({
          TableName: mainTable.name,
          ConsistentRead: true,
          Limit: READ_AT_ONCE,
          FilterExpression: 'SK = :profile',
          ExpressionAttributeValues: { ':profile': 'PROFILE' },
          ...(after && { ExclusiveStartKey: after }),
        })
        found.push(...(page.Items ?? []))
        after = page.LastEvaluatedKey
      } while (after && found.length < limit)
      const items = found.slice(0, limit).map((item) => users.parse(item))
      const last = items.at(-1)
      // A read may have found more than asked for: the next page starts after the last one kept.
      if (last && found.length > limit) after = { PK: last.PK, SK: last.SK }
      return { items, cursor: after ? cursors.seal(SCOPE, after) : null }
    },
  }
}

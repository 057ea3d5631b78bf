/** Lists all users for operators. It scans the table: operators need it rarely, no request path does. */
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { scanPage } from '@strongroom/kit/paging'
import type { PageOpts } from '../../storage/paging.ts'
import type { PaginatedResult, StoreDeps } from '../../stores.ts'
import { mainTable } from '../../tables.ts'
import { type User, UserItem } from './item.ts'

const SCOPE = ['ferryhook.users'] as const

/** Most items of the table are not users. */
const READ_SIZE = 200

export function createUserListing({ db, cursors }: Pick<StoreDeps, 'db' | 'cursors'>) {
  const users = entity(db, mainTable, UserItem)
  const isProfile = expr`${users.attr('SK')} = ${'PROFILE'}`

  return {
    /** In no particular order. */
    async list(opts: PageOpts = {}): Promise<PaginatedResult<User>> {
      const limit = Math.min(Math.max(opts.limit ?? 50, 1), 100)
      const after = opts.cursor ? cursors.open(SCOPE, opts.cursor) : undefined
      const scan = { filter: isProfile, readSize: READ_SIZE, limit, after }
      const { items, next } = await scanPage(db, mainTable, scan, users.parse)
      return { items, cursor: next ? cursors.seal(SCOPE, next) : null }
    },
  }
}

/** Lists failing connections of all accounts for operators. It scans the table, as no request of users does. */
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { scanPage } from '@strongroom/kit/paging'
import type { PageOpts } from '../storage/paging.ts'
import type { PaginatedResult, StoreDeps } from '../stores.ts'
import { mainTable } from '../tables.ts'
import { type Connection, ConnectionItem } from './item.ts'

const SCOPE = ['ferryhook.failing-connections'] as const

/** Most items of the table are not failing connections. */
const READ_SIZE = 200

export function createFailingConnections({ db, cursors }: Pick<StoreDeps, 'db' | 'cursors'>) {
  const connections = entity(db, mainTable, ConnectionItem)
  const { attr } = connections
  const isConnection = expr`begins_with(${attr('SK')}, ${'CONN#'})`
  const isFailing = expr`${attr('status')} = ${'active'} AND attribute_exists(${attr('failingSince')})`
  const isPausedByFerryhook = expr`${attr('status')} = ${'paused'} AND attribute_exists(${attr('statusReason')})`
  const filter = expr`${isConnection} AND ((${isFailing}) OR (${isPausedByFerryhook}))`

  return {
    /** Also those that Ferryhook paused because they failed; in no particular order. */
    async list(opts: PageOpts = {}): Promise<PaginatedResult<Connection>> {
      const limit = Math.min(Math.max(opts.limit ?? 50, 1), 100)
      const after = opts.cursor ? cursors.open(SCOPE, opts.cursor) : undefined
      const scan = { filter, readSize: READ_SIZE, limit, after }
      const { items, next } = await scanPage(db, mainTable, scan, connections.parse)
      return { items, cursor: next ? cursors.seal(SCOPE, next) : null }
    },
  }
}

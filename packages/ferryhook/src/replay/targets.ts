/** Where a replay goes: to the connections that are named, or to all that the source has. */
import type { DataLayer } from '../db/data-layer.ts'
import { ferryhookError } from '../errors.ts'

export async function replayTargets(
  connections: Pick<DataLayer['connections'], 'listBySource'>,
  sourceId: string,
  named: readonly string[] | undefined,
): Promise<string[]> {
  const there = (await connections.listBySource(sourceId)).map(({ connectionId }) => connectionId)
  if (named === undefined) {
    if (there.length === 0) throw ferryhookError('no_connections')
    return there
  }
  const wanted = [...new Set(named)]
  if (!wanted.every((id) => there.includes(id))) throw ferryhookError('connection_not_found')
  return wanted
}

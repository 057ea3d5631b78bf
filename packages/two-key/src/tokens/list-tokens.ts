/** Which teams an app has tokens of. Reads the whole table: for people, who ask now and then. */
import type { Db, Item } from '@strongroom/kit/db'
import { TokenItem, tokensTable } from '../table.ts'

export interface KeptToken {
  team: string
  /** Seconds since the epoch. */
  installedAt: number
}

/** Without an app it is the first one, whose keys have no prefix. */
export async function listTokens(db: Db, app: string | undefined): Promise<KeptToken[]> {
  const prefix = app === undefined ? '' : `${app}:`
  const found: KeptToken[] = []
  let from: Item | undefined
  do {
    const page = await db.scan({
      TableName: tokensTable.name,
      ConsistentRead: true,
      ...(from && { ExclusiveStartKey: from }),
    })
    for (const item of page.Items ?? []) {
      const { team_id, installation_timestamp } = TokenItem.parse(item)
      const team = team_id.slice(prefix.length)
      if (!team_id.startsWith(prefix) || team.includes(':')) continue
      found.push({ team, installedAt: installation_timestamp })
    }
    from = page.LastEvaluatedKey
  } while (from)
  return found.toSorted((a, b) => (a.team < b.team ? -1 : 1))
}

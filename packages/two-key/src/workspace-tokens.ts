/** The bot token of each workspace. It arrives here sealed and leaves sealed. */
import { type Clock, epochSeconds } from '@strongroom/kit/clock'
import type { Db } from '@strongroom/kit/db'
import { ConditionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import type { AppKeys } from './keys.ts'
import { TokenItem, tokensTable } from './table.ts'

export interface WorkspaceTokens {
  get(team: string): Promise<TokenItem | undefined>
  /** Keeps the token of an installation, in place of an older one. */
  put(team: string, sealedToken: Uint8Array): Promise<void>
  delete(team: string): Promise<void>
  /** Deletes this very token; one that has taken its place stays. */
  deleteThis(team: string, token: Pick<TokenItem, 'bot_token'>): Promise<void>
}

export function createWorkspaceTokens(options: {
  db: Db
  clock: Clock
  keys: Pick<AppKeys, 'teamKey'>
}): WorkspaceTokens {
  const { clock, keys } = options
  const items = entity(options.db, tokensTable, TokenItem)

  return {
    // Consistent: a token that was just replaced is revoked.
    get: async (team) => items.get(keys.teamKey(team)),

    async put(team, sealedToken) {
      await items.put({
        ...keys.teamKey(team),
        bot_token: sealedToken,
        installation_timestamp: epochSeconds(clock),
      })
    },

    async delete(team) {
      await items.delete(keys.teamKey(team))
    },

    async deleteThis(team, { bot_token }) {
      const isThis = expr`${items.attr('bot_token')} = ${bot_token}`
      await items.delete(keys.teamKey(team), isThis).catch((error: unknown) => {
        if (!(error instanceof ConditionFailed)) throw error
      })
    },
  }
}

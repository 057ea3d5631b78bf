/** The bot token of each workspace. It is encrypted before it gets here. */
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import type { Db } from '@strongroom/kit/db'
import { ConditionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { scanAll } from '@strongroom/kit/paging'
import * as z from 'zod'
import { type AppKeys, TEAM_KEY } from '../keys.ts'
import { tokensTable } from '../tables.ts'

export const TokenItem = z.object({
  team_id: z.string().regex(TEAM_KEY),
  /** The token, encrypted by the key store. */
  bot_token: z.custom<Uint8Array>((value) => value instanceof Uint8Array && value.length > 0),
  installation_timestamp: z.number().int().positive(),
})
export type TokenItem = z.infer<typeof TokenItem>

export interface TeamToken {
  team: string
  /** Seconds since the epoch. */
  installedAt: number
}

export interface TokenStore {
  get(team: string): Promise<TokenItem | undefined>
  /** Replaces the token of an earlier installation. Writes `on` the given store, as does `delete`. */
  put(team: string, encryptedToken: Uint8Array, on?: Db): Promise<void>
  delete(team: string, on?: Db): Promise<void>
  /**
   * Replaces the token of an earlier installation by one that Slack confirmed at a time, in seconds. One
   * that Slack confirmed later stays: false.
   */
  putInstallation(
    team: string,
    installation: { encryptedToken: Uint8Array; verifiedAt: number },
    on?: Db,
  ): Promise<boolean>
  /** False if the token has been replaced. */
  deleteIfUnchanged(team: string, token: Pick<TokenItem, 'bot_token'>, on?: Db): Promise<boolean>
  /** The teams of the app that have a token, sorted. Scans the table, so it is for operators only. */
  list(): Promise<TeamToken[]>
}

export function createTokenStore(options: {
  db: Db
  clock: Clock
  keys: Pick<AppKeys, 'teamKey' | 'teamOf'>
}): TokenStore {
  const { db, clock, keys } = options
  const items = entity(db, tokensTable, TokenItem)

  return {
    // Consistent, because a token that was just replaced no longer works.
    get: async (team) => items.get(keys.teamKey(team)),

    async put(team, encryptedToken, on = db) {
      await entity(on, tokensTable, TokenItem).put({
        ...keys.teamKey(team),
        bot_token: encryptedToken,
        installation_timestamp: epochSeconds(clock),
      })
    },

    async delete(team, on = db) {
      await entity(on, tokensTable, TokenItem).delete(keys.teamKey(team))
    },

    async putInstallation(team, { encryptedToken, verifiedAt }, on = db) {
      const stored = entity(on, tokensTable, TokenItem)
      const isNewest = expr`attribute_not_exists(${stored.attr('team_id')}) OR ${stored.attr('installation_timestamp')} <= ${verifiedAt}`
      const item = {
        ...keys.teamKey(team),
        bot_token: encryptedToken,
        installation_timestamp: verifiedAt,
      }
      return conditionHeld(stored.put(item, isNewest))
    },

    async deleteIfUnchanged(team, { bot_token }, on = db) {
      const stored = entity(on, tokensTable, TokenItem)
      const isUnchanged = expr`${stored.attr('bot_token')} = ${bot_token}`
      return conditionHeld(stored.delete(keys.teamKey(team), isUnchanged))
    },

    async list() {
      const tokens: TeamToken[] = []
      for await (const item of scanAll(db, tokensTable, {}, items.parse)) {
        const team = keys.teamOf(item.team_id)
        if (team !== undefined) tokens.push({ team, installedAt: item.installation_timestamp })
      }
      return tokens.toSorted((a, b) => (a.team < b.team ? -1 : 1))
    },
  }
}

async function conditionHeld(write: Promise<unknown>): Promise<boolean> {
  try {
    await write
    return true
  } catch (error) {
    if (error instanceof ConditionFailed) return false
    throw error
  }
}

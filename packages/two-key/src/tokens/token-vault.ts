/**
 * The bot tokens of an app's workspaces in the clear, for the moment that they are used. Each is
 * sealed under a key of its own team, and was seen to be that team's before it was kept.
 */
import type { Clock } from '@strongroom/kit/clock'
import type { SecretBox, SecretPlace } from '@strongroom/kit/secret-box'
import { isAhead } from '../lasting.ts'
import type { TokenItem } from '../table.ts'
import type { WorkspaceTokens } from '../workspace-tokens.ts'

/** A token that another machine has replaced or removed is used for so long at most. */
const KEPT_MS = 60_000
/** A new installation is seen by other machines after so long at most. */
const MISSING_MS = 5_000
const MOST = 10_000

export interface TokenVault {
  tokenOf(team: string): Promise<string | undefined>
  put(team: string, token: string): Promise<void>
  delete(team: string): Promise<void>
  /** Deletes a token that will never work again, unless another has taken its place meanwhile. */
  deleteDead(team: string, token: string): Promise<void>
}

interface Held {
  token: Promise<string | undefined>
  until: number
}

export function createTokenVault(deps: {
  app: string
  tokens: WorkspaceTokens
  box: SecretBox
  clock: Clock
}): TokenVault {
  const { app, tokens, box, clock } = deps
  const held = new Map<string, Held>()

  const place = (team: string): SecretPlace => ({
    service: 'two-key',
    tenant: team,
    entity: app,
    attribute: 'bot_token',
  })

  async function opened({ bot_token }: TokenItem, team: string): Promise<string> {
    return Buffer.from(await box.open(bot_token, place(team))).toString()
  }

  async function read(team: string): Promise<string | undefined> {
    const item = await tokens.get(team)
    return item && opened(item, team)
  }

  return {
    async tokenOf(team) {
      const found = held.get(team)
      if (found && isAhead(found.until, clock.now(), KEPT_MS)) return found.token
      const entry: Held = { token: read(team), until: clock.now() + KEPT_MS }
      held.delete(team)
      held.set(team, entry)
      const [oldest] = held.keys()
      if (held.size > MOST && oldest !== undefined) held.delete(oldest)
      try {
        const token = await entry.token
        if (token === undefined) entry.until = clock.now() + MISSING_MS
        return token
      } catch (error) {
        if (held.get(team) === entry) held.delete(team)
        throw error
      }
    },

    async put(team, token) {
      const sealed = await box.seal(new TextEncoder().encode(token), place(team))
      // Here and below: what fails may have been done, and only the answer got lost.
      await tokens.put(team, sealed).finally(() => held.delete(team))
    },

    async delete(team) {
      await tokens.delete(team).finally(() => held.delete(team))
    },

    async deleteDead(team, token) {
      try {
        const item = await tokens.get(team)
        if (item && (await opened(item, team)) === token) await tokens.deleteThis(team, item)
      } finally {
        held.delete(team)
      }
    },
  }
}

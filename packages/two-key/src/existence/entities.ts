/** How Slack is asked about each kind of entity, and what its answers say. */
import * as z from 'zod'
import type { SlackMethod } from './slack-api.ts'

export type EntityKind = 'binding' | 'team' | 'user' | 'bot' | 'channel'

export interface EntityPolicy {
  deletedUser: 'deny' | 'allow'
  archivedChannel: 'deny' | 'allow'
}

/** What matters of an entity that exists. */
export interface Facts {
  /** The team that it is of; of a token, the one that it works for. */
  team?: string | undefined
  enterprise?: string | undefined
  /** All teams that it is in. */
  teams?: readonly string[] | undefined
  /** Of a token: for the whole organisation. */
  isOrgWide?: boolean | undefined
  /** Of a token: its bot as a user. Of a direct message: who is on the other side. */
  user?: string | undefined
  /** Of a user: of another workspace, and in no channel that it shares with this one. */
  isStranger?: boolean | undefined
  /** Of a channel: shared with other workspaces. */
  isShared?: boolean | undefined
}

const id = z.string().min(1)
const someId = id.nullish().catch(undefined)
const ids = z.array(id).nullish().catch(undefined)
const flag = z.boolean().nullish().catch(undefined)

const Binding = z.object({
  team_id: id,
  enterprise_id: someId,
  user_id: someId,
  is_enterprise_install: flag,
})
const Team = z.object({ team: z.object({ id, enterprise_id: someId }) })
const User = z.object({
  user: z.object({
    id,
    team_id: someId,
    deleted: flag,
    is_stranger: flag,
    enterprise_user: z.object({ enterprise_id: someId, teams: ids }).nullish().catch(undefined),
  }),
})
const Bot = z.object({ bot: z.object({ id, deleted: flag }) })
const Channel = z.object({
  channel: z.object({
    id,
    is_archived: flag,
    is_im: flag,
    is_shared: flag,
    is_ext_shared: flag,
    user: someId,
    context_team_id: someId,
    shared_team_ids: ids,
    internal_team_ids: ids,
    connected_team_ids: ids,
  }),
})

interface EntityMethod {
  method: SlackMethod
  /** The argument that has the id, if it has one. */
  argument?: string
  /** Undefined if the entity counts as absent, an error if the answer makes no sense. */
  factsOf(body: unknown, policy: EntityPolicy): Facts | undefined
}

export const entityMethods: Readonly<Record<EntityKind, EntityMethod>> = {
  binding: {
    method: 'auth.test',
    factsOf(body) {
      const { team_id, enterprise_id, user_id, is_enterprise_install } = Binding.parse(body)
      return {
        team: team_id,
        enterprise: enterprise_id ?? undefined,
        user: user_id ?? undefined,
        isOrgWide: is_enterprise_install === true,
      }
    },
  },

  team: {
    method: 'team.info',
    argument: 'team',
    factsOf(body) {
      const { team } = Team.parse(body)
      return { team: team.id, enterprise: team.enterprise_id || undefined }
    },
  },

  user: {
    method: 'users.info',
    argument: 'user',
    factsOf(body, { deletedUser }) {
      const { user } = User.parse(body)
      if (user.deleted === true && deletedUser === 'deny') return undefined
      return {
        team: user.team_id ?? undefined,
        teams: user.enterprise_user?.teams ?? [],
        enterprise: user.enterprise_user?.enterprise_id || undefined,
        isStranger: user.is_stranger === true,
      }
    },
  },

  bot: {
    method: 'bots.info',
    argument: 'bot',
    factsOf: (body) => (Bot.parse(body).bot.deleted === true ? undefined : {}),
  },

  channel: {
    method: 'conversations.info',
    argument: 'channel',
    factsOf(body, { archivedChannel }) {
      const { channel } = Channel.parse(body)
      if (channel.is_archived === true && archivedChannel === 'deny') return undefined
      const teams = [
        channel.context_team_id,
        ...(channel.shared_team_ids ?? []),
        ...(channel.internal_team_ids ?? []),
        ...(channel.connected_team_ids ?? []),
      ]
      return {
        teams: teams.filter((team) => typeof team === 'string'),
        isShared: channel.is_ext_shared === true || channel.is_shared === true,
        user: channel.is_im === true ? (channel.user ?? undefined) : undefined,
      }
    },
  },
}

/** Which of Slack's methods looks up each kind of entity, and what its responses and errors mean. */
import * as z from 'zod'
import type { SlackMethod } from './slack-api.ts'

export type EntityKind = 'token' | 'team' | 'user' | 'bot' | 'channel'

export interface EntityPolicy {
  deletedUser: 'deny' | 'allow'
  archivedChannel: 'deny' | 'allow'
}

/** The properties of an existing entity that the check needs. */
export interface EntityFacts {
  /** The team that it belongs to. */
  team?: string | undefined
  enterprise?: string | undefined
  /** All teams that it is a member of. */
  teams?: readonly string[] | undefined
  /** A token only: it is valid for the whole organisation. */
  isOrgWide?: boolean | undefined
  /** A token: the user id of its bot. A direct message: the user it is with. */
  user?: string | undefined
  /** A user of another workspace with which this one shares no channel. */
  isStranger?: boolean | undefined
  /** A channel that is shared with other workspaces. */
  isShared?: boolean | undefined
}

const id = z.string().min(1)
const someId = id.nullish().catch(undefined)
const ids = z.array(id).nullish().catch(undefined)
const flag = z.boolean().nullish().catch(undefined)

const Token = z.object({
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
  /** The name of the argument for the id. */
  argument?: string
  /** Undefined if the entity counts as absent. Throws if the body is malformed. */
  parse(body: unknown, policy: EntityPolicy): EntityFacts | undefined
}

export const entityMethods: Readonly<Record<EntityKind, EntityMethod>> = {
  token: {
    method: 'auth.test',
    parse(body) {
      const { team_id, enterprise_id, user_id, is_enterprise_install } = Token.parse(body)
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
    parse(body) {
      const { team } = Team.parse(body)
      return { team: team.id, enterprise: team.enterprise_id || undefined }
    },
  },

  user: {
    method: 'users.info',
    argument: 'user',
    parse(body, { deletedUser }) {
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
    parse: (body) => (Bot.parse(body).bot.deleted === true ? undefined : {}),
  },

  channel: {
    method: 'conversations.info',
    argument: 'channel',
    parse(body, { archivedChannel }) {
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

export type SlackErrorClass =
  /** It does not exist. For a channel it may also mean that the bot cannot see it. */
  | 'absent'
  /** The token or the installation is wrong, which says nothing about the ids. */
  | 'credential'
  /** A retry may succeed. */
  | 'transient'

const ABSENT =
  'team_not_found user_not_found user_not_visible channel_not_found bot_not_found org_not_found enterprise_not_found team_not_on_enterprise'

/** The token will never work again, as after an uninstall. */
const REVOKED = 'invalid_auth account_inactive token_revoked token_expired not_authed'

const CREDENTIAL = `${REVOKED} missing_scope not_allowed_token_type no_permission access_denied accesslimited ekm_access_denied enterprise_is_restricted org_login_required team_access_not_granted two_factor_setup_required is_bot deprecated_endpoint method_deprecated unknown_method`

const errorClasses = new Map<string, SlackErrorClass>([
  ...ABSENT.split(' ').map((error) => [error, 'absent'] as const),
  ...CREDENTIAL.split(' ').map((error) => [error, 'credential'] as const),
])
const revoked = new Set(REVOKED.split(' '))

/** Unknown errors count as transient, because they prove nothing. */
export function classifyError(error: string): SlackErrorClass {
  return errorClasses.get(error) ?? 'transient'
}

export function isRevokedToken(error: string): boolean {
  return revoked.has(error)
}

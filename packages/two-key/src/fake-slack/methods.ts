/** The methods of the fake Slack. Like Slack's they respond with status 200 and `ok`. */
import { allScopes, type FakeChannel, type FakeTeam } from './fixtures.ts'

export type SlackArguments = Readonly<Record<string, string | undefined>>
export type SlackAnswer = { ok: boolean } & Record<string, unknown>

interface Method {
  /** Slack's rate limit, in calls per minute for each workspace. */
  perMinute: number
  answer(team: FakeTeam, args: SlackArguments): SlackAnswer
}

export const methods: Readonly<Record<string, Method>> = {
  'auth.test': {
    perMinute: 600,
    answer: (team) => ({
      ok: true,
      url: 'https://fake.slack.com/',
      team: 'Fake',
      team_id: team.orgWide ? team.enterprise : team.id,
      user: 'bot',
      user_id: 'U0000BOT1',
      bot_id: 'B00000001',
      is_enterprise_install: team.orgWide === true,
      ...(team.enterprise === undefined ? {} : { enterprise_id: team.enterprise }),
    }),
  },

  'team.info': {
    perMinute: 50,
    answer(team, { team: id = team.id }) {
      const missing = lacks(team, 'team:read')
      if (missing) return missing
      if (![team.id, team.enterprise, ...(team.connected ?? [])].includes(id)) {
        return no('team_not_found')
      }
      return { ok: true, team: { id, name: 'Fake', enterprise_id: team.enterprise ?? '' } }
    },
  },

  'users.info': {
    perMinute: 100,
    answer(team, { user: id }) {
      const missing = lacks(team, 'users:read')
      if (missing) return missing
      const user = team.users?.find((each) => each.id === id)
      if (!user) return no('user_not_found')
      return {
        ok: true,
        user: {
          id,
          team_id: user.team ?? team.id,
          deleted: user.deleted === true,
          is_bot: false,
          is_stranger: user.stranger === true,
          ...(team.enterprise === undefined || user.team !== undefined
            ? {}
            : { enterprise_user: { id, enterprise_id: team.enterprise, teams: [team.id] } }),
        },
      }
    },
  },

  'bots.info': {
    perMinute: 50,
    answer(team, { bot: id }) {
      const missing = lacks(team, 'users:read')
      if (missing) return missing
      const bot = team.bots?.find((each) => each.id === id)
      if (!bot) return no('bot_not_found')
      return { ok: true, bot: { id, deleted: bot.deleted === true, app_id: bot.app ?? team.app } }
    },
  },

  'conversations.info': {
    perMinute: 50,
    answer(team, { channel: id }) {
      const channel = team.channels?.find((each) => each.id === id)
      const missing = lacks(team, channelScopes[channel?.kind ?? 'public'])
      if (missing) return missing
      if (!channel || channel.visible === false) return no('channel_not_found')
      return { ok: true, channel: conversation(team, channel) }
    },
  },

  'chat.postMessage': {
    perMinute: 60,
    answer: (team, { channel }) =>
      lacks(team, 'chat:write') ?? { ok: true, channel, ts: '1700000000.000100' },
  },
}

const channelScopes = {
  public: 'channels:read',
  private: 'groups:read',
  im: 'im:read',
  mpim: 'mpim:read',
} as const

function conversation(team: FakeTeam, channel: FakeChannel): Record<string, unknown> {
  const kind = channel.kind ?? 'public'
  const shared = channel.sharedWith ?? []
  return {
    id: channel.id,
    is_channel: kind === 'public',
    is_im: kind === 'im',
    is_mpim: kind === 'mpim',
    is_private: kind !== 'public',
    is_archived: channel.archived === true,
    is_member: true,
    is_ext_shared: shared.length > 0,
    context_team_id: team.id,
    shared_team_ids: [team.id, ...shared],
    connected_team_ids: shared,
    ...(channel.peer === undefined ? {} : { user: channel.peer }),
  }
}

const no = (error: string): SlackAnswer => ({ ok: false, error })

function lacks(team: FakeTeam, needed: string): SlackAnswer | undefined {
  const provided: readonly string[] = team.scopes ?? allScopes
  if (provided.includes(needed)) return undefined
  return { ...no('missing_scope'), needed, provided: provided.join(',') }
}

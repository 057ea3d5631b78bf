import { describe, expect, test } from 'vitest'
import type { ChannelPolicy } from '../../src/existence/result.ts'
import type { FakeTeam } from '../../src/fake-slack/fixtures.ts'
import { refused, createTestCheckers, undecidable } from '../support/test-checkers.ts'
import type { SlackIds } from '../../src/slack-ids.ts'

const home = {
  id: 'T1',
  token: 'xoxb-home',
  users: [
    { id: 'U1' },
    { id: 'U2' },
    { id: 'UGONE', deleted: true },
    { id: 'UPARTNER', team: 'TPARTNER' },
    { id: 'USTRANGER', team: 'TFAR', stranger: true },
  ],
  bots: [{ id: 'B1' }, { id: 'BGONE', deleted: true }],
  channels: [
    { id: 'C1' },
    { id: 'COLD', archived: true },
    { id: 'CSHARED', sharedWith: ['TPARTNER'] },
    { id: 'GHIDDEN', kind: 'private', visible: false },
    { id: 'DU1', kind: 'im', peer: 'U1' },
  ],
  connected: ['TPARTNER'],
} satisfies FakeTeam

async function verdictOn(
  ids: Partial<SlackIds>,
  {
    teams = [home],
    channelPolicy = 'strict',
    ...options
  }: {
    teams?: readonly FakeTeam[]
    channelPolicy?: ChannelPolicy
    deletedUser?: 'allow'
    archivedChannel?: 'deny'
    tokenOf?: (team: string) => Promise<string | undefined>
  } = {},
) {
  const { clock, machine, slack } = createTestCheckers(teams)
  const checker = machine(options)
  const deadline = clock.now() + 2000
  const result = await checker.check({ team: 'T1', ...ids }, { deadline, channelPolicy })
  return { result, slack }
}

describe('a request passes', () => {
  test.each<[string, Partial<SlackIds>]>([
    ['with team, user and channel that exist', { user: 'U1', channel: 'C1' }],
    ['with a team alone', {}],
    ['with a bot in place of a user', { bot: 'B1', channel: 'C1' }],
    ['in an archived channel', { user: 'U1', channel: 'COLD' }],
    ['of the peer of a direct message', { user: 'U1', channel: 'DU1' }],
    ['of the bot itself in a direct message', { user: 'U0000BOT1', channel: 'DU1' }],
    ['of a guest from a shared channel', { user: 'UPARTNER', channel: 'CSHARED' }],
    ['of a guest without a channel', { user: 'UPARTNER' }],
    ['that names a connected team', { user: 'U1', channel: 'C1', otherTeams: ['TPARTNER'] }],
    ['that names its own team twice', { user: 'U1', channel: 'C1', otherTeams: ['T1'] }],
  ])('%s', async (_, ids) => {
    const bot = { ...home, users: [...home.users, { id: 'U0000BOT1' }] }
    const { result } = await verdictOn(ids, { teams: [bot] })
    expect(result).toEqual({ ok: true, source: 'slack' })
  })
})

describe('a request is refused', () => {
  test.each<[string, Partial<SlackIds>, string]>([
    ['with an invented user', { user: 'U404', channel: 'C1' }, 'user'],
    ['with a deleted user', { user: 'UGONE', channel: 'C1' }, 'user'],
    ['with an invented channel', { user: 'U1', channel: 'C404' }, 'channel'],
    ['with an invented bot', { bot: 'B404', channel: 'C1' }, 'bot'],
    ['with a deleted bot', { bot: 'BGONE', channel: 'C1' }, 'bot'],
    ['with a real user and an invented bot', { user: 'U1', bot: 'B404', channel: 'C1' }, 'bot'],
    ['of a team without a token', { team: 'T404', user: 'U1', channel: 'C1' }, 'no_token'],
    ['that names an unconnected team', { user: 'U1', otherTeams: ['TFAR'] }, 'team'],
    ['that names an organisation of others', { user: 'U1', enterprise: 'E404' }, 'team'],
    ['of a guest in a channel that is not shared', { user: 'UPARTNER', channel: 'C1' }, 'mismatch'],
    ['of a stranger', { user: 'USTRANGER' }, 'mismatch'],
    ['in a direct message of somebody else', { user: 'U2', channel: 'DU1' }, 'mismatch'],
    ['with a user that is no id', { user: 'U1#C1', channel: 'C1' }, 'bad_id'],
    ['with a team that is no id', { team: 't1' }, 'bad_id'],
    ['with a channel that is no id', { channel: '' }, 'bad_id'],
    ['with another team that is no id', { otherTeams: ['T1', 'x'] }, 'bad_id'],
  ])('%s', async (_, ids, reason) => {
    const { result } = await verdictOn(ids)
    expect(result).toEqual(refused(reason))
  })

  test('without a call to Slack if an id is malformed or there is no token', async () => {
    expect((await verdictOn({ user: 'a' })).slack.calls()).toEqual([])
    expect((await verdictOn({ team: 'T404' })).slack.calls()).toEqual([])
  })

  test('for an absent user even if the channel lookup fails', async () => {
    const { clock, machine, slack } = createTestCheckers([home])
    slack.break({ kind: 'error', error: 'missing_scope', method: 'conversations.info' })
    const asked = { deadline: clock.now() + 2000, channelPolicy: 'strict' } as const
    const checker = machine()
    const ids = { team: 'T1', user: 'U404', channel: 'C1' }
    expect(await checker.check(ids, asked)).toEqual(refused('user'))
    expect(await checker.check({ ...ids, user: 'U1' }, asked)).toEqual(undecidable('scope'))
  })
})

describe('a policy', () => {
  test('can allow deleted users and deny archived channels', async () => {
    const deletedUser = { deletedUser: 'allow' } as const
    expect((await verdictOn({ user: 'UGONE' }, deletedUser)).result.ok).toBe(true)
    const archived = await verdictOn({ channel: 'COLD' }, { archivedChannel: 'deny' })
    expect(archived.result).toEqual(refused('channel'))
  })

  test('ignores an invisible channel under if-visible, and never looks one up under skip', async () => {
    const ids = { user: 'U1', channel: 'GHIDDEN' }
    const unseen = await verdictOn(ids, { channelPolicy: 'if-visible' })
    expect(unseen.result).toEqual({ ok: true, source: 'slack', channelUnseen: true })
    const skipped = await verdictOn(ids, { channelPolicy: 'skip' })
    expect(skipped.result).toEqual({ ok: true, source: 'slack' })
    expect(skipped.slack.calls('conversations.info')).toEqual([])
    expect((await verdictOn(ids)).result).toEqual(refused('channel'))
  })

  test('of if-visible still refuses an invented user and the wrong side of a direct message', async () => {
    const policy = { channelPolicy: 'if-visible' } as const
    const invented = await verdictOn({ user: 'U404', channel: 'GHIDDEN' }, policy)
    expect(invented.result).toEqual(refused('user'))
    const wrongSide = await verdictOn({ user: 'U2', channel: 'DU1' }, policy)
    expect(wrongSide.result).toEqual(refused('mismatch'))
  })
})

describe('of several workspaces', () => {
  const other: FakeTeam = {
    id: 'T2',
    token: 'xoxb-other',
    users: [{ id: 'U9' }],
    channels: [{ id: 'C9' }],
  }

  test('each is looked up with its own token', async () => {
    const { clock, machine } = createTestCheckers([home, other])
    const checker = machine()
    const asked = { deadline: clock.now() + 2000, channelPolicy: 'strict' } as const
    const pass = { ok: true, source: 'slack' }
    expect(await checker.check({ team: 'T1', user: 'U1', channel: 'C1' }, asked)).toEqual(pass)
    expect(await checker.check({ team: 'T2', user: 'U9', channel: 'C9' }, asked)).toEqual(pass)
    expect(await checker.check({ team: 'T2', user: 'U1', channel: 'C9' }, asked)).toEqual(
      refused('user'),
    )
  })

  test('a token of another team verifies no request, and is used only for auth.test', async () => {
    const ids = { team: 'T1', user: 'U9', channel: 'C9' }
    const { result, slack } = await verdictOn(ids, {
      teams: [home, other],
      tokenOf: async () => 'xoxb-other',
    })
    expect(result).toEqual(refused('team'))
    expect(slack.calls().map(({ method }) => method)).toEqual(['auth.test'])
  })

  test('a token from the caller must belong to the team too', async () => {
    const { clock, machine } = createTestCheckers([home, other])
    const checker = machine({ tokenOf: async () => undefined })
    const asked = { deadline: clock.now() + 2000, channelPolicy: 'strict' } as const
    const ids = { team: 'T1', user: 'U1', channel: 'C1' }
    expect(await checker.check(ids, { ...asked, token: 'xoxb-other' })).toEqual(refused('team'))
    expect(await checker.check(ids, { ...asked, token: 'xoxb-home' })).toMatchObject({ ok: true })
  })
})

describe('an organisation', () => {
  const org: FakeTeam = { ...home, enterprise: 'E1', orgWide: true, token: 'xoxb-org' }

  test('with the app installed verifies its workspaces and itself', async () => {
    const ids = { user: 'U1', channel: 'C1', enterprise: 'E1' }
    const { result, slack } = await verdictOn(ids, { teams: [org] })
    expect(result).toEqual({ ok: true, source: 'slack' })
    expect(slack.calls('users.info')).toEqual([
      { method: 'users.info', args: { user: 'U1', team_id: 'T1' } },
    ])
    const own = await verdictOn({ team: 'E1', user: 'U1' }, { teams: [org] })
    expect(own.result).toEqual({ ok: true, source: 'slack' })
  })

  test('that is not the team’s own is refused although the triple is cached', async () => {
    const { clock, machine } = createTestCheckers([org])
    const checker = machine()
    const asked = { deadline: clock.now() + 2000, channelPolicy: 'strict' } as const
    const ids = { team: 'T1', user: 'U1', channel: 'C1', enterprise: 'E1' }
    expect(await checker.check(ids, asked)).toEqual({ ok: true, source: 'slack' })
    expect(await checker.check(ids, asked)).toEqual({ ok: true, source: 'cache' })
    const token = { ...asked, token: 'xoxb-org' }
    expect(await checker.check({ ...ids, enterprise: 'E404' }, token)).toEqual(refused('team'))
  })

  test('does not verify a connected workspace of another organisation', async () => {
    const ids = { team: 'TPARTNER', enterprise: 'E1', user: 'U1' }
    const foreign = { ...org, enterprise: 'E1' }
    const { clock, machine, slack } = createTestCheckers([foreign])
    slack.break({ kind: 'error', error: 'team_not_found', method: 'team.info' })
    const asked = { deadline: clock.now() + 2000, channelPolicy: 'strict' } as const
    expect(await machine().check(ids, asked)).toEqual(refused('team'))
  })
})

describe('a cached triple', () => {
  test.each<[string, Partial<SlackIds>, string]>([
    ['a further team', { otherTeams: ['T404'] }, 'team'],
    ['a bot beside the user', { bot: 'B404' }, 'bot'],
  ])('does not verify ids beyond it: %s', async (_, further, reason) => {
    const { clock, machine } = createTestCheckers([home])
    const checker = machine()
    const asked = { deadline: clock.now() + 2000, channelPolicy: 'strict' } as const
    const ids = { team: 'T1', user: 'U1', channel: 'C1' }
    expect(await checker.check(ids, asked)).toEqual({ ok: true, source: 'slack' })
    expect(await checker.check(ids, asked)).toEqual({ ok: true, source: 'cache' })
    expect(await checker.check({ ...ids, ...further }, asked)).toEqual(refused(reason))
  })

  test('of a bot does not verify a user with the same id, nor the other way round', async () => {
    const { clock, machine } = createTestCheckers([home])
    const checker = machine()
    const asked = { deadline: clock.now() + 2000, channelPolicy: 'strict' } as const
    const of = { team: 'T1', channel: 'C1' }
    expect(await checker.check({ ...of, bot: 'B1' }, asked)).toMatchObject({ ok: true })
    expect(await checker.check({ ...of, bot: 'B1' }, asked)).toEqual({ ok: true, source: 'cache' })
    expect(await checker.check({ ...of, user: 'B1' }, asked)).toEqual(refused('user'))
    expect(await checker.check({ ...of, user: 'U1' }, asked)).toMatchObject({ ok: true })
    expect(await checker.check({ ...of, bot: 'U1' }, asked)).toEqual(refused('bot'))
  })

  test.each<[string, (on: ReturnType<typeof sceneWithSlowTokens>) => Promise<void>]>([
    [
      'its team is removed',
      async ({ checker, timers }) => {
        checker.removeTeam('T1')
        await timers.pass({ ms: 500 })
      },
    ],
    [
      'it expires',
      async ({ timers }) => {
        await timers.pass({ seconds: 1 })
      },
    ],
  ])('is not used when %s while the token is read', async (_, change) => {
    const on = sceneWithSlowTokens()
    const { clock, timers, checker, slack } = on
    const ids = { team: 'T1', user: 'U1', channel: 'C1' }
    const check = async (given: SlackIds) =>
      checker.check(given, { deadline: clock.now() + 2000, channelPolicy: 'strict' })
    const first = check(ids)
    await timers.pass({ ms: 500 })
    expect(await first).toEqual({ ok: true, source: 'slack' })
    // Half a second before the entry expires, and after it was too late to refresh it.
    slack.break({ kind: 'error', error: 'internal_error' })
    await timers.pass({ seconds: 299 })
    slack.repair()
    slack.break({ kind: 'error', error: 'user_not_found', method: 'users.info' })
    const withOtherTeam = check({ ...ids, otherTeams: ['TPARTNER'] })
    await change(on)
    expect(await withOtherTeam).toEqual(refused('user'))
  })
})

/** The token of a team takes half a second to read. */
function sceneWithSlowTokens() {
  const on = createTestCheckers([home])
  const tokenOf = async () =>
    new Promise<string>((resolve) => void on.timers.start(500, () => resolve(home.token)))
  return { ...on, checker: on.machine({ tokenOf }) }
}

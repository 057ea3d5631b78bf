import { describe, expect, test } from 'vitest'
import type { Installation } from '../../src/slack-ids.ts'
import type { FakeTeam } from '../../src/fake-slack/fixtures.ts'
import { refused, createTestCheckers, undecidable } from '../support/test-checkers.ts'

const home: FakeTeam = { id: 'T1', token: 'xoxb-home', users: [{ id: 'U1' }] }
const dead = { kind: 'error', error: 'account_inactive', method: 'auth.test' } as const

function opened(teams: readonly FakeTeam[], tokens?: Record<string, string>) {
  const on = createTestCheckers(teams)
  const ended: [team: string, token: string][] = []
  const checker = on.machine({
    ...(tokens && { tokenOf: async (team: string) => tokens[team] }),
    onUninstalled: async (...gone) => void ended.push(gone),
  })
  const check = async (installation: Installation) =>
    checker.checkUninstalled(installation, { deadline: on.clock.now() + 2000 })
  return { ...on, checker, check, ended }
}

describe('a report that the app was uninstalled', () => {
  test('is accepted if the token is revoked, and the token is then removed', async () => {
    const { check, slack, ended } = opened([home])
    slack.break(dead)
    expect(await check({ team: 'T1' })).toEqual({ ok: true, source: 'slack' })
    expect(ended).toEqual([['T1', 'xoxb-home']])
  })

  test('is accepted if there is no token, and removes none', async () => {
    const { check, ended, slack } = opened([home])
    expect(await check({ team: 'T404' })).toEqual({ ok: true, source: 'cache' })
    expect([ended, slack.calls()]).toEqual([[], []])
  })

  test('is refused while the token still works', async () => {
    const { check, ended } = opened([home])
    expect(await check({ team: 'T1' })).toEqual(refused('still_installed'))
    expect(ended).toEqual([])
  })

  test('is refused while the token of any team that it names still works', async () => {
    const { check } = opened([home])
    expect(await check({ team: 'T404', otherTeams: ['T1'] })).toEqual(refused('still_installed'))
  })

  test('is undecidable if the token only lacks a scope', async () => {
    const { check, slack, ended } = opened([home])
    slack.break({ ...dead, error: 'missing_scope' })
    expect(await check({ team: 'T1' })).toEqual(undecidable('scope'))
    expect(ended).toEqual([])
  })

  test('is undecidable while Slack does not respond', async () => {
    const { check, slack, timers } = opened([home])
    slack.break({ kind: 'error', error: 'internal_error', times: 3 })
    const failing = check({ team: 'T1' })
    await timers.pass({ seconds: 1 })
    expect(await failing).toEqual(undecidable('slack_error'))
    slack.break({ kind: 'hang' })
    const hanging = check({ team: 'T1' })
    await timers.pass({ seconds: 2 })
    expect(await hanging).toEqual(undecidable('timeout'))
  })

  test('sent a thousand times costs few calls, and does not delay real users', async () => {
    const { check, checker, clock, slack } = opened([home])
    for (let said = 0; said < 1000; said++) await check({ team: 'T1' })
    expect(slack.calls('auth.test').length).toBeLessThanOrEqual(40)
    expect(await check({ team: 'T1' })).toEqual(undecidable('budget'))
    const asked = { deadline: clock.now() + 2000, channelPolicy: 'strict' } as const
    expect(await checker.check({ team: 'T1', user: 'U1' }, asked)).toMatchObject({ ok: true })
  })
})

describe('a report that an organisation uninstalled the app', () => {
  const org: FakeTeam = { ...home, token: 'xoxb-org', enterprise: 'E1', orgWide: true }
  const workspace = { team: 'T1', enterprise: 'E1' }

  test('is refused while its token works, whichever workspace sends it', async () => {
    const { check } = opened([org])
    expect(await check(workspace)).toEqual(refused('still_installed'))
    expect(await check({ team: 'T404', enterprise: 'E1' })).toEqual(refused('still_installed'))
    expect(await check({ team: 'E1' })).toEqual(refused('still_installed'))
  })

  test('removes the token once it is revoked', async () => {
    const { check, slack, ended } = opened([org])
    slack.break(dead)
    expect(await check(workspace)).toEqual({ ok: true, source: 'slack' })
    expect(ended).toEqual([['E1', 'xoxb-org']])
  })

  test('is handled separately from a report of a workspace about its own installation', async () => {
    const { check, ended } = opened([org], { T1: 'xoxb-replaced', E1: 'xoxb-org' })
    expect(await check(workspace)).toEqual({ ok: true, source: 'slack' })
    expect(ended).toEqual([['T1', 'xoxb-replaced']])
    expect(await check({ ...workspace, isOrgWide: true })).toEqual(refused('still_installed'))
  })
})

describe('the removal of a team', () => {
  const asked = { user: 'U1', channel: 'C1' }
  const withChannel: FakeTeam = { ...home, channels: [{ id: 'C1' }] }

  test.each(['Slack', 'the cache'])(
    'applies to a result from %s that was pending at that moment',
    async (from) => {
      const tokens = new Map([['T1', 'xoxb-home']])
      const on = createTestCheckers([withChannel])
      const entry = () => ({ cache_key: 'T1#U1#C1', ttl: Math.floor(on.clock.now() / 1000) + 100 })
      const get = async () =>
        new Promise<ReturnType<typeof entry> | undefined>((resolve) => {
          on.timers.start(200, () => resolve(from === 'Slack' ? undefined : entry()))
        })
      const checker = on.machine({
        tokenOf: async (team) => tokens.get(team),
        cache: { get, put: async () => entry() },
      })
      const check = async () =>
        checker.check(
          { team: 'T1', ...asked },
          { deadline: on.clock.now() + 2000, channelPolicy: 'strict' },
        )
      const underWay = check()
      await on.timers.pass({ ms: 100 })
      tokens.delete('T1')
      checker.removeTeam('T1')
      await on.timers.pass({ seconds: 1 })
      expect(await underWay).toMatchObject({ ok: true })
      expect(await check()).toEqual(refused('no_token'))
    },
  )

  test('applies to what was verified while its token was being removed', async () => {
    const tokens = new Map([['T1', 'xoxb-home']])
    const on = createTestCheckers([withChannel])
    const entry = () => ({ cache_key: 'T1#U1#C1', ttl: Math.floor(on.clock.now() / 1000) + 100 })
    const until = () => ({ deadline: on.clock.now() + 2000 })
    const checker = on.machine({
      tokenOf: async (team) => tokens.get(team),
      cache: { get: async () => entry(), put: async () => entry() },
      async onUninstalled(team) {
        expect(await check()).toEqual({ ok: true, source: 'cache' })
        tokens.delete(team)
      },
    })
    const check = async () =>
      checker.check({ team: 'T1', ...asked }, { ...until(), channelPolicy: 'strict' })
    on.slack.break(dead)
    expect(await checker.checkUninstalled({ team: 'T1' }, until())).toMatchObject({ ok: true })
    expect(await check()).toEqual(refused('no_token'))
  })

  test('applies to the workspaces of a removed organisation', async () => {
    const org: FakeTeam = { ...withChannel, enterprise: 'E1', orgWide: true }
    const tokens = new Map([['E1', org.token]])
    const on = createTestCheckers([org])
    const checker = on.machine({ tokenOf: async (team) => tokens.get(team) })
    const check = async (enterprise?: { enterprise: string }) =>
      checker.check(
        { team: 'T1', ...asked, ...enterprise },
        { deadline: on.clock.now() + 2000, channelPolicy: 'strict' },
      )
    expect(await check({ enterprise: 'E1' })).toMatchObject({ ok: true })
    expect(await check()).toEqual({ ok: true, source: 'cache' })
    tokens.delete('E1')
    checker.removeTeam('E1')
    expect(await check()).toEqual(refused('no_token'))
  })
})

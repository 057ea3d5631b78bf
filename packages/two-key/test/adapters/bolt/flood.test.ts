import { testClock } from '@strongroom/kit/testing/test-clock'
import { describe, expect, test } from 'vitest'
import { createExistenceChecker } from '../../../src/existence/checker.ts'
import { createFakeSlack } from '../../../src/fake-slack/fake-slack.ts'
import { type FakeTeam, sampleTeam } from '../../../src/fake-slack/fixtures.ts'
import { eventBody, message } from '../../support/samples.ts'
import { signedJson } from '../../support/signed.ts'
import { now, openBolt } from '../../support/bolt-app.ts'

describe('if one token serves every request', () => {
  /** A thousand requests, each for an invented team. */
  async function flood(team: FakeTeam) {
    const clock = testClock()
    const slack = createFakeSlack({ clock, teams: [team] })
    const checker = createExistenceChecker({
      tokenOf: async () => undefined,
      fetch: slack.fetch,
      clock,
    })
    const options = {
      channelPolicy: 'strict',
      deadline: clock.now() + 2000,
      token: team.token,
    } as const
    const results = new Set<string>()
    for (let at = 0; at < 1000; at++) {
      const ids = { team: `T0FAKE${at}`, user: `U0FAKE${at}`, channel: `C0FAKE${at}` }
      const result = await checker.check(ids, options)
      results.add(result.ok ? 'accepted' : result.reason)
    }
    return { slack, results }
  }

  test('a flood of invented teams costs one call', async () => {
    const { slack, results } = await flood(sampleTeam)
    expect([...results]).toEqual(['team'])
    expect(slack.calls()).toEqual([{ method: 'auth.test', args: {} }])
  })

  test('a flood of invented workspaces of an organisation shares the budget of one', async () => {
    const { slack, results } = await flood({
      ...sampleTeam,
      enterprise: 'E00000001',
      orgWide: true,
    })
    expect(results.has('accepted')).toBe(false)
    expect(slack.calls('auth.test')).toHaveLength(1)
    expect(slack.calls('team.info').length).toBeLessThanOrEqual(50)
    expect(slack.calls('users.info').length).toBeLessThanOrEqual(100)
    expect(slack.calls('conversations.info').length).toBeLessThanOrEqual(50)
  })

  test('a Bolt app receives requests of its own team before and after a flood of others', async () => {
    const bolt = openBolt()
    const own = () => signedJson(eventBody(message), now())
    await bolt.send(own())
    for (let at = 0; at < 20; at++) {
      const team_id = `T0FAKE${at}`
      const teams = { team_id, context_team_id: team_id, authorizations: [{ team_id }] }
      await bolt.send(signedJson(eventBody(message, teams), now()))
    }
    await bolt.send(own())
    expect(bolt.handled).toEqual(['message', 'message'])
    expect(bolt.slack.calls('auth.test')).toHaveLength(1)
  })
})

import { createLog } from '@strongroom/kit/log'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createExistenceChecker } from '../../src/existence/checker.ts'
import { createFakeSlack } from '../../src/fake-slack/fake-slack.ts'
import { serveFakeSlack } from '../../src/fake-slack/server.ts'
import { sampleTeam } from '../../src/fake-slack/fixtures.ts'
import { twoKey, verifySlackRequest } from '../../src/verify.ts'
import { outages } from '../support/outages.ts'
import { CHANNEL, samples, TEAM, USER } from '../support/samples.ts'
import { official } from '../support/signed.ts'
import { testTimers } from '@strongroom/kit/testing/test-timers'

function open() {
  const clock = testClock()
  const timers = testTimers(clock)
  const slack = createFakeSlack({ clock })
  const lines: string[] = []
  const log = createLog({ level: 'debug', clock, sink: (line) => lines.push(line) })
  const tokenOf = async (team: string) => (team === TEAM ? sampleTeam.token : undefined)
  const { fetch } = slack
  const checker = createExistenceChecker({ clock, startTimer: timers.start, tokenOf, fetch, log })
  return {
    keys: twoKey({ signingSecret: official.secret, checker, clock, log }),
    clock,
    timers,
    slack,
    lines,
  }
}

describe('outside any framework', () => {
  test.each(outages)(
    'while Slack %s every request is a 503 within two seconds',
    async (_, fault, code) => {
      for (const [name, sample] of Object.entries(samples)) {
        const { keys, timers, slack, lines, clock } = open()
        slack.break(fault)
        const started = clock.now()
        const decided = verifySlackRequest(sample(), keys).then((decision) => ({
          decision,
          at: clock.now(),
        }))
        await timers.pass({ seconds: 2 })
        const { decision, at } = await decided
        expect([name, decision]).toMatchObject([
          name,
          { ok: false, stage: 'existence', status: 503, retryable: true },
        ])
        expect(decision).toMatchObject({ code: expect.stringMatching(code) })
        expect(at - started).toBeLessThanOrEqual(2000)
        const text = lines.join('')
        expect(text).toContain('existence_check_')
        for (const told of [TEAM, USER, CHANNEL, sampleTeam.token, '<!doctype'])
          expect(text).not.toContain(told)
      }
    },
  )

  test('a real 429 is recognised by its status, over a real connection', async () => {
    const slack = createFakeSlack()
    const server = await serveFakeSlack(slack, 0)
    onTestFinished(() => server.close())
    const tokenOf = async () => sampleTeam.token
    const checker = createExistenceChecker({ tokenOf, slackApiUrl: server.url })
    const keys = twoKey({ signingSecret: official.secret, checker })
    const now = () => ({ timestamp: Math.floor(Date.now() / 1000) })
    slack.break({ kind: 'rate_limit', retryAfter: 30, method: 'users.info' })
    expect(await verifySlackRequest(samples['command']!(now()), keys)).toMatchObject({
      code: 'rate_limit_exceeded',
      status: 503,
      retryAfterSeconds: 30,
    })
    // Until then Slack is not called again.
    await verifySlackRequest(samples['command']!(now()), keys)
    expect(slack.calls('users.info')).toHaveLength(1)
  })

  test('cached triples pass while Slack is down, and others do not', async () => {
    const { keys, slack, timers } = open()
    expect(await verifySlackRequest(samples['message']!(), keys)).toMatchObject({ source: 'slack' })
    slack.break({ kind: 'hang' })
    expect(await verifySlackRequest(samples['message']!(), keys)).toMatchObject({ source: 'cache' })
    await timers.pass({ seconds: 299 })
    const again = verifySlackRequest(samples['message']!({ timestamp: 4_102_444_800 + 299 }), keys)
    await timers.pass({ ms: 0 })
    expect(await again).toMatchObject({ source: 'cache' })
    await timers.pass({ seconds: 1 })
    const late = verifySlackRequest(samples['message']!({ timestamp: 4_102_444_800 + 300 }), keys)
    await timers.pass({ seconds: 2 })
    expect(await late).toMatchObject({ ok: false, status: 503 })
  })
})

import { createLog } from '@strongroom/kit/log'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { describe, expect, test } from 'vitest'
import { createExistenceChecker } from '../src/existence/checker.ts'
import { createFakeSlack } from '../src/fake-slack/fake-slack.ts'
import { sampleTeam } from '../src/fake-slack/world.ts'
import { twoKey, verifySlackRequest } from '../src/verify.ts'
import { outages } from './outage.ts'
import { CHANNEL, samples, TEAM, USER } from './samples.ts'
import { official } from './signed.ts'
import { testTimers } from './test-timers.ts'

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

describe('outside of any framework', () => {
  test.each(outages)(
    'while Slack %s everything is a 503 within two seconds',
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

  test('what was verified stays so while Slack is down, and what was not is not', async () => {
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

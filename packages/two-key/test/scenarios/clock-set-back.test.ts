import type { Clock } from '@strongroom/platform/clock'
import { describe, expect, test } from 'vitest'
import { createCallBudget } from '../../src/existence/call-budget.ts'
import { newTeam, refused, createTestCheckers, undecidable } from '../support/test-checkers.ts'

const HOUR = 3_600_000

/** A clock that can be set back. */
function corrected({ clock: right }: { clock: Clock }) {
  let ahead = HOUR
  return {
    clock: { now: () => right.now() + ahead },
    setBack: () => void (ahead = 0),
  }
}

describe('when the clock is set back by an hour', () => {
  test('a used-up budget is full again after a minute, and not before', () => {
    const { clock: right } = createTestCheckers([])
    const { clock, setBack } = corrected({ clock: right })
    const budgets = createCallBudget({ clock })
    const take = () => budgets.take('T1', 'users.info', { isKnown: false })
    while (take() === 0);
    setBack()
    expect(take()).toBe(60_000)
    right.advance({ minutes: 1 })
    expect(take()).toBe(0)
  })

  test('a Retry-After ends', () => {
    const { clock, setBack } = corrected(createTestCheckers([]))
    const budget = createCallBudget({ clock })
    budget.setRetryAfter('T1', 'users.info', 30)
    expect(budget.retryAfterMs('T1', 'users.info')).toBe(30_000)
    setBack()
    expect(budget.retryAfterMs('T1', 'users.info')).toBe(0)
  })

  test('an open circuit breaker lets calls through again', async () => {
    const { ids, team } = newTeam()
    const on = createTestCheckers([team])
    const { clock, setBack } = corrected(on)
    const checker = on.machine({ clock })
    const check = async () => {
      const deadline = clock.now() + 2000
      return on.timers.until(checker.check(ids, { deadline, channelPolicy: 'strict' }))
    }
    on.slack.break({ kind: 'reset' })
    const results = []
    for (let attempt = 0; attempt < 5; attempt++) results.push(await check())
    expect(results).toContainEqual(undecidable('circuit'))
    setBack()
    on.slack.repair()
    expect(await check()).toEqual({ ok: true, source: 'slack' })
  })

  test('nothing is cached for longer than five minutes', async () => {
    const { ids, team } = newTeam()
    const on = createTestCheckers([team])
    const { clock, setBack } = corrected(on)
    const checker = on.machine({ clock })
    const check = async () =>
      checker.check(ids, { deadline: clock.now() + 2000, channelPolicy: 'strict' })
    expect(await check()).toEqual({ ok: true, source: 'slack' })
    setBack()
    on.slack.break({ kind: 'error', error: 'user_not_found', method: 'users.info' })
    expect(await check()).toEqual(refused('user'))
    on.slack.break({ kind: 'error', error: 'token_revoked' })
    on.clock.advance({ minutes: 5 })
    expect(await check()).toEqual(undecidable('credential'))
  })
})

import { testClock } from '@strongroom/kit/testing/test-clock'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createCallBudget } from '../../src/existence/call-budget.ts'

test('unknown ids use one half, known ids both, and teams and methods have budgets of their own', () => {
  const budgets = createCallBudget({ clock: testClock() })
  const taken = (team: string, method: 'users.info' | 'team.info', isKnown: boolean) =>
    Array.from({ length: 200 }, () => budgets.take(team, method, { isKnown })).filter(
      (wait) => wait === 0,
    ).length
  expect(taken('T1', 'users.info', false)).toBe(40)
  expect(taken('T1', 'users.info', true)).toBe(40)
  expect(taken('T2', 'users.info', true)).toBe(80)
  expect(taken('T1', 'team.info', false)).toBe(20)
})

test('several processes can share Slack’s limits', () => {
  const budgets = createCallBudget({ clock: testClock(), share: 0.2 })
  const waits = Array.from({ length: 30 }, () =>
    budgets.take('T1', 'users.info', { isKnown: true }),
  )
  expect(waits.filter((wait) => wait === 0)).toHaveLength(20)
})

test.each([80, 0, -1, Number.NaN, '0.8' as unknown as number])(
  'a share of %s is an error',
  (share) => {
    expect(() => createCallBudget({ clock: testClock(), share })).toThrow(
      'slackShare must be greater than 0 and at most 1',
    )
  },
)

test('the number of budgets is limited, and the least recently used ones are dropped', () => {
  const budgets = createCallBudget({ clock: testClock(), share: 0.01 })
  const take = (team: string) => budgets.take(team, 'team.info', { isKnown: false })
  expect([take('T1'), take('T1')]).toEqual([0, 60_000])
  for (let at = 0; at < 50_000; at++) take(`TOTHER${at}`)
  expect(take('T1')).toBe(0)
})

test('no minute has more calls than the budget, and each wait ends when promised', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(4000), fc.boolean()), { maxLength: 400 }), (requests) => {
      const clock = testClock()
      const budgets = createCallBudget({ clock })
      const calls: number[] = []
      for (const [pause, isKnown] of requests) {
        clock.advance({ ms: pause })
        const wait = budgets.take('T1', 'conversations.info', { isKnown })
        expect(wait).toBeLessThanOrEqual(60_000)
        if (wait === 0) calls.push(clock.now())
      }
      const gaps = calls.slice(40).map((time, at) => time - (calls[at] ?? 0))
      expect(gaps.every((gap) => gap >= 60_000)).toBe(true)
    }),
  )
})

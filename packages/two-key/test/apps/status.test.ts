import { testClock } from '@strongroom/kit/testing/test-clock'
import { describe, expect, test } from 'vitest'
import { createRecentDecisions } from '../../src/apps/recent-decisions.ts'
import { createTwoKeyStatus } from '../../src/apps/status.ts'
import type { ExistenceChecker, ExistenceResult } from '../../src/existence/result.ts'

describe('the status of Two-key', () => {
  async function open() {
    const clock = testClock()
    const decisions = createRecentDecisions(clock)
    let result: ExistenceResult = { ok: true, source: 'cache' }
    const checker = decisions.wrap<ExistenceChecker>({
      check: async () => result,
      checkUninstalled: async () => result,
    })
    const decide = (next: ExistenceResult, team = 'T1') => {
      result = next
      return checker.check({ team, user: 'U1' }, { timeoutMs: 1_000 } as never)
    }
    const status = createTwoKeyStatus({
      registry: { decisions: () => new Map([['deploy-bot', decisions]]) },
      apps: { list: async () => [{ SK: 'deploy-bot' }, { SK: 'other' }] as never },
    })
    return { clock, decide, status }
  }
  const rejected: ExistenceResult = { ok: false, kind: 'undecidable', reason: 'credential' }

  test('names the apps whose token Slack refuses, since when and the command that replaces it', async () => {
    const { clock, decide, status } = await open()
    await decide({ ok: true, source: 'cache' })
    expect(await status()).toEqual({ note: '2 apps', problems: [] })
    clock.advance({ minutes: 1 })
    const since = clock.now()
    await decide(rejected)
    clock.advance({ minutes: 9 })
    await decide(rejected)
    await decide({ ok: true, source: 'cache' }, 'T2')
    expect(await status()).toMatchObject({
      note: '1 of 2 apps cannot verify',
      problems: [
        {
          severity: 'bad',
          title: 'Slack refuses the token of deploy-bot',
          since,
          command: 'strongroom slack token set deploy-bot T1',
        },
      ],
    })
  })

  test('forgets a refused token when a later request was verified', async () => {
    const { decide, status } = await open()
    await decide(rejected)
    await decide({ ok: true, source: 'cache' })
    expect((await status()).problems).toEqual([])
  })
})

import { testClock } from '@strongroom/kit/testing/test-clock'
import { describe, expect, test } from 'vitest'
import { createRecentDecisions } from '../../src/apps/recent-decisions.ts'
import { createTwoKeyStatus } from '../../src/apps/status.ts'
import { type Decision, type Rejected, UNCHECKED } from '../../src/decision.ts'
import type { SlackPayload } from '../../src/payload/parse.ts'

describe('the status of Two-key', () => {
  async function open() {
    const clock = testClock()
    const decisions = createRecentDecisions(clock)
    const decide = (decision: Rejected | 'accepted', team = 'T1') => {
      const ids = { team, user: 'U1' }
      const payload: SlackPayload = { kind: 'command', type: 'slash_command', body: {}, ids }
      const accepted: Decision = { ok: true, payload, source: 'cache', ...UNCHECKED }
      const details = { payload, durationMs: 1 }
      decisions.record(decision === 'accepted' ? accepted : decision, details)
    }
    const status = createTwoKeyStatus({
      registry: { decisions: () => new Map([['deploy-bot', decisions]]) },
      apps: { list: async () => [{ SK: 'deploy-bot' }, { SK: 'other' }] as never },
    })
    return { clock, decide, status }
  }
  const rejected: Rejected = {
    ok: false,
    stage: 'existence',
    code: 'token_rejected',
    status: 503,
    retryable: true,
  }

  test('names the apps whose token Slack refuses, since when and the command that replaces it', async () => {
    const { clock, decide, status } = await open()
    decide('accepted')
    expect(await status()).toEqual({ note: '2 apps', problems: [] })
    clock.advance({ minutes: 1 })
    const since = clock.now()
    decide(rejected)
    clock.advance({ minutes: 9 })
    decide(rejected)
    decide('accepted', 'T2')
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

  test('names the scopes that a token lacks', async () => {
    const { decide, status } = await open()
    decide({ ...rejected, code: 'missing_scope', missingScopes: ['groups:read', 'im:read'] })
    expect((await status()).problems).toMatchObject([
      {
        title: 'The token of deploy-bot lacks a scope',
        explanation: expect.stringContaining('reinstalled with groups:read, im:read'),
      },
    ])
  })

  test('forgets a refused token when a later request was verified', async () => {
    const { decide, status } = await open()
    decide(rejected)
    decide('accepted')
    expect((await status()).problems).toEqual([])
  })
})

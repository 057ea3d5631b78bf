import { createLog } from '@strongroom/kit/log'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { describe, expect, test } from 'vitest'
import type { Decision } from '../src/decision.ts'
import type { ExistenceResult } from '../src/existence/result.ts'
import { MAX_BODY_BYTES, twoKey, type TwoKeyOptions, verifySlackRequest } from '../src/verify.ts'
import { createFakeChecker } from './support/fake-checker.ts'
import { CHANNEL, command, eventBody, message, samples, TEAM, USER } from './support/samples.ts'
import { official, signed, signedForm, signedJson } from './support/signed.ts'

function openTwoKey(result?: ExistenceResult, options: Partial<TwoKeyOptions> = {}) {
  const checker = createFakeChecker(result)
  const clock = testClock()
  const lines: string[] = []
  const log = createLog({ level: 'debug', clock, sink: (line) => lines.push(line) })
  const decisions: Decision[] = []
  const keys = twoKey({
    signingSecret: official.secret,
    checker,
    clock,
    log,
    onDecision: (decision) => decisions.push(decision),
    ...options,
  })
  return { keys, checker, clock, lines, decisions }
}

const refused = (reason: Extract<ExistenceResult, { kind: 'refused' }>['reason']) =>
  ({ ok: false, kind: 'refused', reason }) as const
const undecidable = (reason: Extract<ExistenceResult, { kind: 'undecidable' }>['reason']) =>
  ({ ok: false, kind: 'undecidable', reason }) as const

describe('a request needs both keys', () => {
  test.each(Object.entries(samples))('%s passes with both', async (_, sample) => {
    const { keys } = openTwoKey()
    expect(await verifySlackRequest(sample(), keys)).toMatchObject({ ok: true, source: 'slack' })
  })

  test('without the first, nothing is parsed and Slack is not called', async () => {
    const { keys, checker } = openTwoKey()
    const unsigned = { rawBody: Buffer.from('{ no JSON'), headers: { 'content-type': 'text/odd' } }
    expect(await verifySlackRequest(unsigned, keys)).toEqual({
      ok: false,
      stage: 'signature',
      code: 'missing_header',
      status: 401,
      retryable: true,
    })
    expect(checker.checks).toEqual([])
  })

  test.each([
    ['team', 'team_not_found'],
    ['user', 'user_not_found'],
    ['bot', 'bot_not_found'],
    ['channel', 'channel_not_found'],
    ['mismatch', 'ids_do_not_fit'],
    ['no_token', 'no_token'],
    ['bad_id', 'bad_id'],
    ['still_installed', 'still_installed'],
  ] as const)(
    'a refusal by the second is a 403 that Slack does not repeat: %s',
    async (reason, code) => {
      const { keys } = openTwoKey(refused(reason))
      const rejected = { ok: false, stage: 'existence', code, status: 403, retryable: false }
      expect(await verifySlackRequest(samples['message']!(), keys)).toEqual(rejected)
    },
  )

  test.each([
    ['timeout', 'timeout'],
    ['rate_limited', 'rate_limit_exceeded'],
    ['budget', 'miss_budget_exhausted'],
    ['slack_error', 'slack_api_error'],
    ['circuit', 'slack_unavailable'],
    ['credential', 'token_rejected'],
    ['store', 'store_unavailable'],
  ] as const)(
    'an undecidable request is a 503, so that Slack sends it again: %s',
    async (reason, code) => {
      const { keys } = openTwoKey(undecidable(reason))
      const rejected = { ok: false, stage: 'existence', code, status: 503, retryable: true }
      expect(await verifySlackRequest(samples['message']!(), keys)).toEqual(rejected)
    },
  )

  test('a body is at most 4 MiB', async () => {
    const { keys } = openTwoKey()
    const large = signed(Buffer.alloc(MAX_BODY_BYTES + 1, ' '))
    expect(await verifySlackRequest(large, keys)).toMatchObject({
      code: 'body_too_large',
      status: 413,
    })
  })
})

describe('the second key is given', () => {
  test('two seconds for everything, by the clock', async () => {
    const { keys, checker, clock } = openTwoKey()
    await verifySlackRequest(samples['message']!(), keys)
    expect(checker.checks[0]?.options.deadline).toBe(clock.now() + 2000)
    const quick = openTwoKey(undefined, { budgetMs: 500 })
    await verifySlackRequest(samples['message']!(), quick.keys)
    expect(quick.checker.checks[0]?.options.deadline).toBe(clock.now() + 500)
    for (const budgetMs of [0, -1, 3000, Number.NaN]) {
      expect(() => openTwoKey(undefined, { budgetMs })).toThrow('budgetMs must be')
    }
  })

  test('a strict channel policy for events, and if-visible for everything else', async () => {
    const { keys, checker } = openTwoKey()
    const policies = async () => {
      checker.checks = []
      const asked: Record<string, string | undefined> = {}
      for (const [name, sample] of Object.entries(samples)) {
        await verifySlackRequest(sample(), keys)
        asked[name] = checker.checks.at(-1)?.options.channelPolicy
      }
      return asked
    }
    const { message: ofEvents, ...others } = await policies()
    expect(ofEvents).toBe('strict')
    expect([...new Set(Object.values(others))]).toEqual(['if-visible'])

    const changed = openTwoKey(undefined, { channelPolicy: { command: 'strict', event: 'skip' } })
    for (const name of ['message', 'command', 'shortcut']) {
      await verifySlackRequest(samples[name]!(), changed.keys)
    }
    const asked = changed.checker.checks.map(({ options }) => options.channelPolicy)
    expect(asked).toEqual(['skip', 'strict', 'if-visible'])
  })
})

describe('by options', () => {
  test('an undecidable request is rejected and a missing token is accepted, as in the specification', async () => {
    const rejecting = openTwoKey(undecidable('timeout'), { onUndecidable: 'reject' })
    expect(await verifySlackRequest(samples['message']!(), rejecting.keys)).toMatchObject({
      code: 'timeout',
      status: 403,
      retryable: false,
    })
    const skipping = openTwoKey(refused('no_token'), { onMissingToken: 'skip' })
    const decision = await verifySlackRequest(samples['message']!(), skipping.keys)
    expect(decision).toMatchObject({ ok: true, source: 'skipped' })
    expect(skipping.lines.join('')).toContain('existence_check_skipped')
    skipping.checker.result = refused('user')
    expect(await verifySlackRequest(samples['message']!(), skipping.keys)).toMatchObject({
      ok: false,
    })
  })

  test('a rejection is a 200, so that Slack does not disable the app', async () => {
    const { keys } = openTwoKey(refused('team'), { rejectStatus: 200 })
    expect(await verifySlackRequest(samples['message']!(), keys)).toMatchObject({
      ok: false,
      status: 200,
    })
    const unsigned = { ...samples['message']!(), headers: {} }
    expect(await verifySlackRequest(unsigned, keys)).toMatchObject({ status: 401 })
  })
})

describe('every decision', () => {
  test('is reported and logged with its reason, without an id, a token or content of the request', async () => {
    const { keys, checker, lines, decisions } = openTwoKey()
    const results: ExistenceResult[] = [
      { ok: true, source: 'cache' },
      refused('user'),
      refused('no_token'),
      undecidable('timeout'),
      undecidable('rate_limited'),
      undecidable('slack_error'),
      undecidable('credential'),
    ]
    for (const result of results) {
      checker.result = result
      await verifySlackRequest(signedForm(command), keys)
      await verifySlackRequest(signedJson(eventBody(message)), keys)
    }
    await verifySlackRequest(signedJson(eventBody({ ...message, type: TEAM, user: 'x' })), keys)
    await verifySlackRequest({ ...signedForm(command), headers: {} }, keys)

    expect(decisions).toHaveLength(2 * results.length + 2)
    expect(lines).toHaveLength(decisions.length)
    const text = lines.join('')
    for (const secret of [TEAM, USER, CHANNEL, 'café', 'deploy', official.secret, 'Ev00000001']) {
      expect(text).not.toContain(secret)
    }
    const logged = lines.map(
      (line) => JSON.parse(line) as { level: string; event: string; code?: string },
    )
    expect(
      logged
        .filter((_, index) => index % 2 === 1)
        .map(({ level, event, code }) => [level, event, code]),
    ).toEqual([
      ['debug', 'existence_check_success', undefined],
      ['warn', 'existence_check_failed', 'user_not_found'],
      ['warn', 'existence_check_failed', 'no_token'],
      ['warn', 'existence_check_timeout', 'timeout'],
      ['warn', 'existence_check_rate_limit', 'rate_limit_exceeded'],
      ['warn', 'existence_check_api_error', 'slack_api_error'],
      ['error', 'existence_check_api_error', 'token_rejected'],
      ['warn', 'signature_verification_failed', 'missing_header'],
    ])
  })
})

import { describe, expect, test } from 'vitest'
import { samples, TEAM, USER } from '../../support/samples.ts'
import { outages } from '../../support/outages.ts'
import { now, openBolt } from '../../support/bolt-app.ts'

/** The maximum duration in seconds and the response of each kind of request. */
const requests = [
  ['message', 10, /^$/],
  ['command', 2, /"response_type":"ephemeral"/],
  ['block_actions', 2, /^$/],
  ['view_submission', 2, /^$/],
  ['message_action', 2, /^$/],
] as const

describe.each(outages)('while Slack %s', (_, fault, code) => {
  test('no listener of a Bolt app is called, and everything is acknowledged within the budget', async () => {
    for (const [name, seconds, response] of requests) {
      const bolt = openBolt()
      bolt.slack.break(fault)
      const sent = bolt.response(samples[name]!(now()))
      await reached(bolt)
      await bolt.timers.pass({ seconds })
      // The clock stops here, so an undecided request stays undecided.
      const { status, body } = await sent
      await bolt.settled()
      expect([name, status, bolt.handled]).toEqual([name, 200, []])
      expect(body).toMatch(response)
      const codes = bolt.lines.flatMap((line) => /"code":"(\w+)"/.exec(line)?.[1] ?? [])
      expect(codes).toEqual([expect.stringMatching(code)])
      const told = new RegExp([TEAM, USER, 'xoxb', '<!doctype'].join('|'))
      expect(bolt.lines.join('\n')).not.toMatch(told)
    }
  })
})

/** Waits until the request has reached the check. */
async function reached(bolt: ReturnType<typeof openBolt>): Promise<void> {
  while (bolt.slack.calls().length === 0) await new Promise((resolve) => void setImmediate(resolve))
}

describe('while Slack is down and Bolt responds last', () => {
  test.each([
    ['HTTPReceiver', false],
    ['AwsLambdaReceiver', true],
  ])('Slack sends an event again: %s', async (_, lambda) => {
    const bolt = openBolt({ lambda, processBeforeResponse: true })
    bolt.slack.break({ kind: 'hang' })
    const sent = bolt.response(samples['message']!(now()))
    await reached(bolt)
    await bolt.timers.pass({ seconds: 2 })
    expect((await sent).status).toBe(500)
    expect(bolt.errors).toEqual([expect.objectContaining({ code: 'slack_two_key_undecidable' })])
    bolt.slack.repair()
    await bolt.timers.pass({ seconds: 60 })
    expect((await bolt.send(samples['message']!(now()))).status).toBe(200)
    expect(bolt.handled).toEqual(['message'])
  })

  test.each([
    ['the token is revoked', { kind: 'error', error: 'token_revoked' }],
    ['a scope is missing', { kind: 'error', error: 'missing_scope', method: 'users.info' }],
  ] as const)('its user is not asked to try again when %s', async (_, fault) => {
    const bolt = openBolt({ lambda: true, processBeforeResponse: true })
    bolt.slack.break(fault)
    const { status, body } = await bolt.send(samples['command']!(now()))
    expect([status, body]).toEqual([200, expect.stringContaining('Ask the person who manages')])
    expect(body).not.toMatch(/again/i)
    expect(bolt.handled).toEqual([])
  })

  test('a command is acknowledged, and its user is asked to try again', async () => {
    const bolt = openBolt({ lambda: true, processBeforeResponse: true })
    bolt.slack.break({ kind: 'status', status: 502 })
    const sent = bolt.response(samples['command']!(now()))
    await reached(bolt)
    await bolt.timers.pass({ seconds: 2 })
    expect(await sent).toMatchObject({ status: 200, body: expect.stringContaining('Try again') })
    expect(bolt.handled).toEqual([])
  })
})

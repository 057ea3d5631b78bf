import { describe, expect, test } from 'vitest'
import {
  APP,
  blockActions,
  CHANNEL,
  command,
  eventBody,
  message,
  samples,
  TEAM,
  USER,
} from '../../support/samples.ts'
import { signedForm, signedJson, signedPayload } from '../../support/signed.ts'
import { now, openBolt } from '../../support/bolt-app.ts'
import type { TwoKeyContext } from '../../../src/adapters/bolt.ts'

const OTHER = 'U0INVENTED'
const invented: Readonly<Record<string, () => ReturnType<typeof signedJson>>> = {
  message: () => signedJson(eventBody({ ...message, user: OTHER }), now()),
  command: () => signedForm({ ...command, user_id: OTHER }, now()),
  block_actions: () =>
    signedPayload({ ...blockActions, user: { id: OTHER, team_id: TEAM } }, now()),
  ...Object.fromEntries(
    ['message_action', 'shortcut', 'view_submission', 'view_closed', 'block_suggestion'].map(
      (name) => [
        name,
        () => {
          const { rawBody } = samples[name]!()
          const payload = JSON.parse(
            new URLSearchParams(rawBody.toString()).get('payload') ?? '',
          ) as object
          return signedPayload({ ...payload, user: { id: OTHER, team_id: TEAM } }, now())
        },
      ],
    ),
  ),
}

describe.each([
  ['HTTPReceiver', {}],
  ['HTTPReceiver that answers last', { processBeforeResponse: true }],
  ['AwsLambdaReceiver', { lambda: true, processBeforeResponse: true }],
])('in a Bolt app with %s', (_, options) => {
  test.each(Object.keys(samples))('a %s of a real user reaches its listener', async (name) => {
    const bolt = openBolt(options)
    const { status } = await bolt.send(samples[name]!(now()))
    expect([status, bolt.handled, bolt.errors]).toEqual([200, [name], []])
    const [context] = bolt.contexts as [TwoKeyContext]
    const ids = expect.objectContaining({ team: TEAM, user: USER })
    const channel = context.ids.channel === undefined ? 'unchecked' : 'verified'
    expect(bolt.contexts).toEqual([
      { verified: true, source: 'slack', ids, user: 'verified', channel },
    ])
  })

  test.each(Object.keys(invented))(
    'a %s of an invented user is acknowledged and reaches no listener',
    async (name) => {
      const bolt = openBolt(options)
      const { status, body } = await bolt.send(invented[name]!())
      expect([status, body, bolt.handled, bolt.errors]).toEqual([200, '', [], []])
      expect(bolt.lines.join('\n')).toContain('user_not_found')
      expect(bolt.lines.join('\n')).not.toMatch(
        new RegExp([OTHER, TEAM, CHANNEL, 'xoxb'].join('|')),
      )
    },
  )

  test('the token of one team does not verify another team', async () => {
    const bolt = openBolt(options)
    const foreign = eventBody(message, {
      team_id: 'T0OTHER',
      context_team_id: 'T0OTHER',
      authorizations: [{ team_id: 'T0OTHER' }],
    })
    await bolt.send(signedJson(foreign, now()))
    await bolt.send(signedForm({ ...command, team_id: 'T0OTHER' }, now()))
    expect(bolt.handled).toEqual([])
  })

  test('a second request with the same ids does not call Slack', async () => {
    const bolt = openBolt(options)
    await bolt.send(samples['message']!(now()))
    const asked = bolt.slack.calls().length
    await bolt.send(samples['message']!(now()))
    expect(bolt.slack.calls()).toHaveLength(asked)
    expect(bolt.contexts.at(-1)).toMatchObject({ verified: true, source: 'cache' })
  })

  test('a response URL that is not Slack’s never gets a response', async () => {
    const bolt = openBolt(options)
    await bolt.send(signedForm({ ...command, response_url: 'https://evil.example/' }, now()))
    expect([bolt.handled, bolt.slack.calls()]).toEqual([[], []])
  })

  test('a payload that Bolt and the check could read differently reaches no listener', async () => {
    const bolt = openBolt(options)
    await bolt.send(signedPayload({ ...blockActions, event: { ...message, user: OTHER } }, now()))
    await bolt.send(signedJson(eventBody({ ...message, channel_id: 'C0OTHER' }), now()))
    expect(bolt.handled).toEqual([])
  })

  test('requests for another app reach no listener', async () => {
    const bolt = openBolt({ ...options, appId: 'A0OTHER' })
    await bolt.send(samples['command']!(now()))
    expect(bolt.handled).toEqual([])
    const own = openBolt({ ...options, appId: APP })
    await own.send(samples['command']!(now()))
    expect(own.handled).toEqual(['command'])
  })
})

describe('in a Bolt app', () => {
  test('an uninstall is accepted once the token is revoked, and not before', async () => {
    const event = signedJson(eventBody({ type: 'app_uninstalled' }), now())
    const bolt = openBolt({ tokenOf: async () => 'xoxb-fake-00000001' })
    await bolt.send(event)
    expect(bolt.handled).toEqual([])
    bolt.slack.break({ kind: 'error', error: 'token_revoked' })
    await bolt.send(event)
    expect(bolt.handled).toEqual(['app_uninstalled'])
  })

  test('the token of the last verified request exposes a forged uninstall too', async () => {
    const event = signedJson(eventBody({ type: 'app_uninstalled' }), now())
    const bolt = openBolt()
    await bolt.send(samples['message']!(now()))
    await bolt.send(event)
    expect(bolt.handled).toEqual(['message'])
  })

  test('an uninstall of a team without a token in this process is rejected', async () => {
    const event = signedJson(eventBody({ type: 'app_uninstalled' }), now())
    const codes: string[] = []
    const onRejected = ({ code }: { code: string }) => void codes.push(code)
    const bolt = openBolt({ onRejected })
    await bolt.send(event)
    expect([bolt.handled, codes]).toEqual([[], ['no_token']])
    const skipping = openBolt({ onMissingToken: 'skip' })
    await skipping.send(event)
    expect(skipping.handled).toEqual(['app_uninstalled'])
    const knowing = openBolt({ tokenOf: async () => undefined })
    await knowing.send(event)
    expect(knowing.handled).toEqual(['app_uninstalled'])
  })

  test('an uninstall is accepted every time once the token of the last request is revoked', async () => {
    const event = signedJson(eventBody({ type: 'app_uninstalled' }), now())
    const bolt = openBolt()
    await bolt.send(samples['message']!(now()))
    bolt.slack.break({ kind: 'error', error: 'token_revoked' })
    await bolt.send(event)
    await bolt.send(event)
    expect(bolt.handled).toEqual(['message', 'app_uninstalled', 'app_uninstalled'])
  })

  test('an uninstall without a team, for which Bolt finds another one, is rejected', async () => {
    const bolt = openBolt()
    await bolt.send(samples['message']!(now()))
    const event = eventBody(
      { type: 'app_uninstalled' },
      { team_id: 'T404', context_team_id: 'T404' },
    )
    await bolt.send(signedJson(event, now()))
    expect(bolt.handled).toEqual(['message'])
  })

  test('commands pass from conversations without the bot, but events do not', async () => {
    const bolt = openBolt()
    await bolt.send(signedForm({ ...command, channel_id: 'G0000HIDE' }, now()))
    await bolt.send(signedJson(eventBody({ ...message, channel: 'G0000HIDE' }), now()))
    expect(bolt.handled).toEqual(['command'])
    const strict = openBolt({ channelPolicy: { command: 'strict' } })
    await strict.send(signedForm({ ...command, channel_id: 'G0000HIDE' }, now()))
    expect(strict.handled).toEqual([])
  })

  test('onRejected receives a rejection and may acknowledge it with its own text', async () => {
    const codes: string[] = []
    const bolt = openBolt({
      async onRejected({ code }, { ack }) {
        codes.push(code)
        await (ack as ((text: string) => Promise<void>) | undefined)?.('Not you')
      },
    })
    expect(await bolt.send(invented['command']!())).toMatchObject({ status: 200, body: 'Not you' })
    expect(await bolt.send(invented['message']!())).toMatchObject({ status: 200, body: '' })
    expect(codes).toEqual(['user_not_found', 'user_not_found'])
  })

  test('an onRejected that fails reaches the error handler, and the request is still acknowledged', async () => {
    const bolt = openBolt({
      onRejected() {
        throw new Error('hook broke')
      },
    })
    expect(await bolt.send(invented['command']!())).toMatchObject({ status: 200 })
    expect([bolt.handled, bolt.errors]).toEqual([
      [],
      [expect.objectContaining({ message: 'hook broke' })],
    ])
  })

  test('its type is accepted wherever Bolt takes middleware, without importing Bolt', async () => {
    const { existenceCheck } = await import('../../../src/adapters/bolt.ts')
    const { app } = openBolt()
    const check = existenceCheck()
    app.use(check)
    app.command('/x', check, async ({ ack }) => ack())
    app.event('app_mention', check, async () => {})
    app.action('x', check, async ({ ack }) => ack())
    app.view('x', check, async ({ ack }) => ack())
    app.shortcut('x', check, async ({ ack }) => ack())
    app.message(check, async () => {})
    expect(check).toHaveLength(1)
  })
})

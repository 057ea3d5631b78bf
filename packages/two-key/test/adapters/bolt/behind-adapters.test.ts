import {
  App,
  AwsLambdaReceiver,
  ExpressReceiver,
  HTTPReceiver,
  LogLevel,
  type Receiver,
} from '@slack/bolt'
import { describe, expect, test } from 'vitest'
import { twoKeyLambda, type LambdaEvent } from '../../../src/adapters/lambda.ts'
import { twoKeyMiddleware, twoKeyNode } from '../../../src/adapters/node.ts'
import { createFakeSlack } from '../../../src/fake-slack/fake-slack.ts'
import { createExistenceChecker } from '../../../src/existence/checker.ts'
import { sampleTeam } from '../../../src/fake-slack/fixtures.ts'
import { type TwoKey, twoKey } from '../../../src/verify.ts'
import { overHttp } from '../../support/adapters.ts'
import { command, eventBody, message, shortcut } from '../../support/samples.ts'
import { FORM, official, type Signed, signed, signedForm } from '../../support/signed.ts'
import { now } from '../../support/bolt-app.ts'

const signingSecret = official.secret
const logLevel = LogLevel.ERROR

/** The text that a listener of a Bolt app behind both keys received. */
type Behind = (keys: TwoKey, request: Signed) => Promise<{ status: number; heard: string[] }>

function listening(receiver: Receiver): string[] {
  const heard: string[] = []
  const app = new App({
    receiver,
    logLevel,
    authorize: async () => ({ botToken: sampleTeam.token, botId: 'B0', botUserId: 'U0000BOT1' }),
  })
  app.event(
    'message',
    async ({ event }) => void heard.push('text' in event ? (event.text ?? '') : ''),
  )
  app.command('/deploy', async ({ ack, command: { text } }) => {
    heard.push(text)
    await ack()
  })
  app.shortcut('new-ticket', async ({ ack }) => {
    heard.push('shortcut')
    await ack()
  })
  return heard
}

const receivers: Readonly<Record<string, Behind>> = {
  async HTTPReceiver(keys, request) {
    const receiver = new HTTPReceiver({ signingSecret, logLevel, processBeforeResponse: true })
    const heard = listening(receiver)
    const handler = twoKeyNode(keys, (req, res) => receiver.requestListener(req, res))
    const { status } = await overHttp((req, res) => void handler(req, res), request)
    return { status, heard }
  },

  async ExpressReceiver(keys, request) {
    const receiver = new ExpressReceiver({ signingSecret, logLevel, processBeforeResponse: true })
    const heard = listening(receiver)
    const middleware = twoKeyMiddleware(keys)
    const { status } = await overHttp((req, res) => {
      void middleware(req, res, () => receiver.app(req as never, res as never))
    }, request)
    return { status, heard }
  },

  async AwsLambdaReceiver(keys, { rawBody, headers }) {
    const receiver = new AwsLambdaReceiver({ signingSecret, logLevel })
    const heard = listening(receiver)
    const bolt = receiver.toHandler()
    const handler = twoKeyLambda(keys, async (event: LambdaEvent, context: object) =>
      bolt(event as unknown as Parameters<typeof bolt>[0], context),
    )
    const event = { rawPath: '/', headers, body: rawBody.toString('base64'), isBase64Encoded: true }
    const { statusCode } = await handler(event, {})
    return { status: statusCode, heard }
  },
}

describe.each(Object.entries(receivers))('a Bolt app with %s behind both keys', (_, send) => {
  const slack = createFakeSlack()
  const checker = createExistenceChecker({
    tokenOf: async (team) => (team === sampleTeam.id ? sampleTeam.token : undefined),
    fetch: slack.fetch,
  })
  const keys = twoKey({ signingSecret, checker })
  const event = JSON.stringify(eventBody({ ...message, text: 'café 🎉' }))
  const form = new URLSearchParams(command).toString()

  test.each<[string, () => Signed, string]>([
    ['an event beyond ASCII', () => signed(event, now()), 'café 🎉'],
    [
      'an event with a charset',
      () => signed(event, { ...now(), contentType: 'application/json; charset=utf-8' }),
      'café 🎉',
    ],
    [
      'a command with a charset',
      () => signed(form, { ...now(), contentType: `${FORM}; charset=utf-8` }),
      command.text,
    ],
    ['a shortcut', () => signedForm({ payload: JSON.stringify(shortcut) }, now()), 'shortcut'],
  ])(
    'receives %s, which some Bolt receivers cannot parse on their own',
    async (_name, request, text) => {
      expect(await send(keys, request())).toEqual({ status: 200, heard: [text] })
    },
  )

  test.each<[string, () => Signed, number]>([
    [
      'a timestamp one day ahead',
      () => signed(event, { timestamp: now().timestamp + 86_400 }),
      401,
    ],
    ['version v1', () => signed(event, { ...now(), version: 'v1' }), 401],
    ['version v9', () => signed(event, { ...now(), version: 'v9' }), 401],
    [
      'a timestamp with a fraction',
      () => {
        const { rawBody, headers } = signed(event, now())
        const timestamp = `${headers['x-slack-request-timestamp']}.0`
        return { rawBody, headers: { ...headers, 'x-slack-request-timestamp': timestamp } }
      },
      401,
    ],
    [
      'malformed JSON, unsigned',
      () => ({ rawBody: Buffer.from('{'), headers: { 'content-type': 'application/json' } }),
      401,
    ],
    [
      'an ssl_check with a payload',
      () => ({
        rawBody: Buffer.from(`ssl_check=1&payload=${encodeURIComponent(JSON.stringify(shortcut))}`),
        headers: { 'content-type': FORM },
      }),
      401,
    ],
    [
      'a rate-limit notice with an event',
      () => signed(event.replace('event_callback', 'app_rate_limited'), now()),
      403,
    ],
    [
      'a signed ssl_check with a payload',
      () => signedForm({ ssl_check: '1', payload: JSON.stringify(shortcut) }, now()),
      200,
    ],
    [
      'a response URL that is not Slack’s',
      () => signedForm({ ...command, response_url: 'https://evil.example/' }, now()),
      403,
    ],
    [
      'a user who does not exist',
      () => signedForm({ ...command, user_id: 'U0INVENTED' }, now()),
      403,
    ],
  ])('does not receive %s', async (_name, request, status) => {
    expect(await send(keys, request())).toEqual({ status, heard: [] })
  })
})

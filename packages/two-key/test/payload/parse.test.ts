import { testClock } from '@strongroom/kit/testing/test-clock'
import { describe, expect, test } from 'vitest'
import { twoKey, verifySlackRequest } from '../../src/verify.ts'
import { createFakeChecker } from '../support/fake-checker.ts'
import {
  blockActions,
  type Body,
  CHANNEL,
  command,
  eventBody,
  message,
  shortcut,
  TEAM,
  USER,
} from '../support/samples.ts'
import {
  FORM,
  official,
  type Signed,
  signed,
  signedForm,
  signedJson,
  signedPayload,
} from '../support/signed.ts'

async function decide(request: Signed) {
  const checker = createFakeChecker()
  const keys = twoKey({ signingSecret: official.secret, checker, clock: testClock() })
  const decision = await verifySlackRequest(request, keys)
  expect(decision.ok ? [] : checker.checks).toEqual([])
  return decision
}

const without = (body: Body, ...names: string[]): Body =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)))

/** The JSON of a body with additional text before one of its members. */
function twice(body: Body, member: string, before: string): string {
  const text = JSON.stringify(body)
  const at = text.indexOf(member)
  expect(at).toBeGreaterThan(0)
  return `${text.slice(0, at)}${before}${before.endsWith(',') ? '' : ','}${text.slice(at)}`
}

describe('a signed request is rejected before Slack is called', () => {
  test.each<[string, Signed]>([
    ['a message without a user', signedJson(eventBody(without(message, 'user')))],
    ['a message without a channel', signedJson(eventBody(without(message, 'channel')))],
    [
      'a mention without a user',
      signedJson(eventBody({ ...without(message, 'user'), type: 'app_mention' })),
    ],
    [
      'a mention without a channel',
      signedJson(eventBody({ ...without(message, 'channel'), type: 'app_mention' })),
    ],
    [
      'a file in a message without a user',
      signedJson(eventBody({ ...without(message, 'user'), subtype: 'file_share' })),
    ],
    ['a message with an empty user', signedJson(eventBody({ ...message, user: '' }))],
    ['a message with a user that is null', signedJson(eventBody({ ...message, user: null }))],
    [
      'an event without a team',
      signedJson(
        eventBody(message, { team_id: undefined, context_team_id: undefined, authorizations: [] }),
      ),
    ],
    [
      'an uninstall without a team',
      signedJson(
        eventBody(
          { type: 'app_uninstalled' },
          { team_id: null, context_team_id: null, authorizations: [] },
        ),
      ),
    ],
    [
      'a channel that is an object without an id',
      signedJson(eventBody({ ...message, channel: {} })),
    ],
    ...['team_id', 'user_id', 'channel_id'].map((name): [string, Signed] => [
      `a command without ${name}`,
      signedForm({ ...command, [name]: '' }),
    ]),
    ['an action without a user', signedPayload(without(blockActions, 'user'))],
    ['a shortcut without a team', signedPayload({ ...shortcut, team: null, user: { id: USER } })],
  ])('if an id is missing: %s', async (_, request) => {
    expect(await decide(request)).toMatchObject({
      ok: false,
      stage: 'payload',
      code: 'missing_id',
      status: 403,
    })
  })

  test.each(['u1', 'U1#C1', 'U', 'U'.repeat(33), 'Ü12', 'U1 ', 5, true, ['U00000001'], 'T1:U1'])(
    'if an id is not a Slack id: %j',
    async (user) => {
      expect(await decide(signedJson(eventBody({ ...message, user })))).toMatchObject({
        ok: false,
        code: 'bad_id',
        status: 403,
      })
    },
  )

  test.each<[string, Signed]>([
    ['two channels', signedJson(eventBody({ ...message, channel_id: 'C0OTHER' }))],
    [
      'a channel and that of an item',
      signedJson(eventBody({ ...message, item: { channel: 'C0OTHER' } })),
    ],
    ['two users', signedJson(eventBody({ ...message, user_id: 'U0OTHER' }))],
    [
      'a channel and that of its container',
      signedPayload({ ...blockActions, container: { channel_id: 'C0OTHER' } }),
    ],
    ['an action that is an event too', signedPayload({ ...blockActions, event: message })],
    ['an event that is a command too', signedJson(eventBody(message, { command: '/deploy' }))],
    ['a command with the actions of another payload', signedForm({ ...command, actions: '[]' })],
    ['a command that has a type', signedForm({ ...command, type: 'shortcut' })],
    [
      'a rate-limit notice with an event',
      signedJson(eventBody(message, { type: 'app_rate_limited' })),
    ],
    ['a command in the notice of a limit', signedJson({ ...command, type: 'app_rate_limited' })],
    [
      'a payload beside other fields',
      signedForm({ ...command, payload: JSON.stringify(shortcut) }),
    ],
    [
      'a duplicate field',
      signed(`${new URLSearchParams(command).toString()}&user_id=U0OTHER`, { contentType: FORM }),
    ],
    [
      'a duplicate member',
      signed(twice(eventBody(message), `"user":"${USER}"`, '"user":"U0OTHER"')),
    ],
    [
      'a duplicate member, once with escaped letters',
      signed(twice(eventBody(message), `"user":"${USER}"`, '"\\u0075ser":"U0OTHER"')),
    ],
    [
      'a duplicate member of an interaction',
      signedForm({ payload: twice(blockActions, `"user":{`, '"user":null,') }),
    ],
  ])('if a handler could read another id than was checked: %s', async (_, request) => {
    const decision = await decide(request)
    expect(decision).toMatchObject({ ok: false, stage: 'payload', status: expect.any(Number) })
    expect(decision).toMatchObject({ code: expect.stringMatching(/^(ambiguous|unknown)_payload$/) })
  })

  test.each<[string, Signed, string]>([
    ['no JSON', signed('{'), 'malformed_body'],
    ['a list', signed('[]'), 'malformed_body'],
    ['null', signed('null'), 'malformed_body'],
    ['bytes that are not UTF-8', signed(Buffer.from([0x7b, 0xff, 0x7d])), 'malformed_body'],
    ['a payload that is no JSON', signed('payload=%7B', { contentType: FORM }), 'malformed_body'],
    [
      'an event that is not an object',
      signedJson(eventBody(message, { event: 'x' })),
      'malformed_body',
    ],
    ['an event without a type', signedJson(eventBody(without(message, 'type'))), 'malformed_body'],
    [
      'revoked tokens that are not a list',
      signedJson(eventBody({ type: 'tokens_revoked', tokens: { bot: 'U0000BOT1' } })),
      'malformed_body',
    ],
    [
      'authorizations that are not a list',
      signedJson(eventBody(message, { authorizations: {} })),
      'malformed_body',
    ],
    [
      'a challenge that is not a string',
      signedJson({ type: 'url_verification', challenge: {} }),
      'malformed_body',
    ],
    [
      'a type that Slack does not know',
      signedPayload({ ...shortcut, type: 'constructor' }),
      'unknown_payload',
    ],
    ['an interaction as JSON', signedJson(blockActions), 'unknown_payload'],
    ['an event in a form', signedPayload(eventBody(message)), 'unknown_payload'],
    [
      'a challenge in a form',
      signedPayload({ type: 'url_verification', challenge: 'c' }),
      'unknown_payload',
    ],
    ['an empty body', signed(''), 'malformed_body'],
    [
      'JSON after a byte order mark',
      signed(`\uFEFF${JSON.stringify(eventBody(message))}`),
      'malformed_body',
    ],
    [
      'a form after a question mark',
      signed(`?payload=${encodeURIComponent(JSON.stringify(shortcut))}`, { contentType: FORM }),
      'unknown_payload',
    ],
    ['another content type', signed('{}', { contentType: 'text/plain' }), 'unknown_content_type'],
    [
      'a content type that only starts with a known one',
      signed('{}', { contentType: 'application/jsonp' }),
      'unknown_content_type',
    ],
  ])('if it is not what Slack sends: %s', async (_, request, code) => {
    expect(await decide(request)).toMatchObject({
      ok: false,
      stage: 'payload',
      code,
      status: 400,
      retryable: false,
    })
  })

  test('if it has no content type', async () => {
    const { rawBody, headers } = signedJson(eventBody(message))
    const { 'content-type': _, ...others } = headers
    expect(await decide({ rawBody, headers: others })).toMatchObject({
      code: 'unknown_content_type',
    })
  })

  test('inherited properties are not ids', async () => {
    const request = signed(
      `{"type":"event_callback","__proto__":{"team_id":"${TEAM}"},"event":{"type":"message","channel":"${CHANNEL}","user":"${USER}"}}`,
    )
    expect(await decide(request)).toMatchObject({ ok: false, code: 'missing_id' })
  })
})

test('a payload may contain many quotes and colons', async () => {
  const text = '":{\\"\\\\": "'
  const body = eventBody({ ...message, text, blocks: [{ text }, { text }] })
  expect(await decide(signedJson(body))).toMatchObject({ ok: true })
})

describe.each<[string, (text: string) => Signed]>([
  ['an event', (text) => signed(text)],
  ['an interaction', (text) => signedForm({ payload: text })],
])('the JSON of %s', (name, sign) => {
  const sample = name === 'an event' ? eventBody(message) : blockActions
  /** The sample with a member that makes it this deep; the body is the first level. */
  const nested = (depth: number, open: string, close: string) =>
    sign(
      `${JSON.stringify(sample).slice(0, -1)},"deep":${open.repeat(depth - 1)}0${close.repeat(depth - 1)}}`,
    )

  test.each([
    ['lists', '[', ']'],
    ['objects', '{"a":', '}'],
  ])('may nest 1,000 %s and no more', async (_, open, close) => {
    expect(await decide(nested(1_000, open, close))).toMatchObject({ ok: true })
    const rejected = { ok: false, stage: 'payload', code: 'malformed_body', status: 400 }
    expect(await decide(nested(1_001, open, close))).toMatchObject(rejected)
    expect(await decide(nested(200_000, open, close))).toMatchObject(rejected)
  })

  test('may have any number of brackets in its strings', async () => {
    const text = '[{'.repeat(2_000)
    const body = { ...sample, text }
    expect(await decide(sign(JSON.stringify(body)))).toMatchObject({ ok: true })
  })
})

describe('a content type may have parameters', () => {
  test.each([
    ['application/json; charset=utf-8', JSON.stringify(eventBody(message))],
    ['Application/JSON;charset=UTF-8', JSON.stringify(eventBody(message))],
    [`${FORM}; charset=utf-8`, new URLSearchParams(command).toString()],
    [`${FORM};charset="utf-8"`, `payload=${encodeURIComponent(JSON.stringify(shortcut))}`],
  ])('%s', async (contentType, body) => {
    expect(await decide(signed(body, { contentType }))).toMatchObject({ ok: true })
  })
})

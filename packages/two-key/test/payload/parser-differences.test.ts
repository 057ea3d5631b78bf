/**
 * Bodies that the app's parser reads differently than this one: a table for each language. Each body
 * has ids that exist where Two-key looks, and another id where the parser of that language looks.
 */
import { spawnSync } from 'node:child_process'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { describe, expect, test } from 'vitest'
import { twoKey, verifySlackRequest } from '../../src/verify.ts'
import { createFakeChecker } from '../support/fake-checker.ts'
import {
  blockActions,
  type Body,
  command,
  eventBody,
  message,
  samples,
  TEAM,
  USER,
  view,
  viewSubmission,
} from '../support/samples.ts'
import {
  FORM,
  official,
  type Signed,
  signed,
  signedJson,
  signedPayload,
} from '../support/signed.ts'

const OTHER = 'U0OTHER'

async function decide(request: Signed) {
  const checker = createFakeChecker()
  const keys = twoKey({ signingSecret: official.secret, checker, clock: testClock() })
  const decision = await verifySlackRequest(request, keys)
  expect(decision.ok ? [] : checker.checks).toEqual([])
  return decision
}

const form = (text: string) => signed(text, { contentType: FORM })
const fields = new URLSearchParams(command).toString()
/** A slash command with one more field. */
const commandWith = (field: string) => form(`${fields}&${field}`)

const rejected = { ok: false, stage: 'payload', retryable: false }

/** Names of Slack's fields as parsers that ignore case accept them. */
const caseVariants = (name: string): [string, Signed][] => [
  [`${name} beside the right name`, signedJson(eventBody({ ...message, [name]: OTHER }))],
  [`${name} first`, signedJson(eventBody({ [name]: OTHER, ...message }))],
  [`${name} alone`, signedJson(eventBody({ type: 'reaction_added', [name]: OTHER, item: {} }))],
]

describe('Go (encoding/json, which ignores case)', () => {
  test.each<[string, Signed]>([
    ...['User', 'USER', 'uſer', 'user_ID', 'Channel_Id', 'Team', 'TEAM_ID'].flatMap(caseVariants),
    ['the event twice', signedJson(eventBody(message, { Event: { ...message, user: OTHER } }))],
    ['the team of a body', signedJson(eventBody(message, { Team_Id: 'T0OTHER' }))],
    ['in a list', signedJson(eventBody(message, { authorizations: [{ TEAM_ID: 'T0OTHER' }] }))],
    ['the user of an action', signedPayload({ ...blockActions, User: { id: OTHER } })],
    ['the id of a user', signedPayload({ ...blockActions, user: { id: USER, ID: OTHER } })],
    ['a Kelvin sign', signedJson(eventBody(message, { 'to\u212Aens': {}, tokens: {} }))],
    ['two names that are not read', signedJson(eventBody({ ...message, Text: 'a', tExt: 'b' }))],
  ])('%s', async (_, request) => {
    expect(await decide(request)).toMatchObject({ ...rejected, code: 'ambiguous_payload' })
  })

  test('a semicolon, which drops the field', async () => {
    expect(await decide(commandWith('x;y=1'))).toMatchObject({
      ...rejected,
      code: 'malformed_body',
    })
  })
})

describe('C# (ASP.NET, which ignores case in JSON and in forms)', () => {
  test.each<[string, Signed, string]>([
    ...caseVariants('User').map(([name, request]): [string, Signed, string] => [
      name,
      request,
      'ambiguous_payload',
    ]),
    ['User_Id in a form', commandWith(`User_Id=${OTHER}`), 'unknown_payload'],
    ['USER_ID in a form', commandWith(`USER_ID=${OTHER}`), 'unknown_payload'],
    ['%u escapes', commandWith(`%u0075ser_id=${OTHER}`), 'unknown_payload'],
    ['Payload in a form', form(`Payload=${encodeURIComponent('{}')}`), 'unknown_payload'],
    [
      'a charset',
      signed(JSON.stringify(eventBody(message)), {
        contentType: 'application/json; charset=utf-7',
      }),
      'unknown_content_type',
    ],
  ])('%s', async (_, request, code) => {
    expect(await decide(request)).toMatchObject({ ...rejected, code })
  })
})

describe('PHP ($_POST, which changes names)', () => {
  const names = [
    'user.id',
    'user+id',
    'user%20id',
    'user%2Eid',
    'user[id',
    'user%5Bid',
    '+user_id',
    '%20user_id',
    'user_id[]',
    'user_id%5B%5D',
    'user_id[0]',
    'user_id[x][y]',
    'user_id%00',
    'user_id%00x',
  ]

  test.each(names)('%s', async (name) => {
    const code = 'unknown_payload'
    expect(await decide(commandWith(`${name}=${OTHER}`))).toMatchObject({ ...rejected, code })
    expect(await decide(form(`${name}=${OTHER}&${fields}`))).toMatchObject({ ...rejected, code })
  })

  const php = spawnSync('php', ['-n', '-v']).status === 0
  test.skipIf(!php)('maps each of these names to user_id', () => {
    const script = 'parse_str($argv[1], $out); echo json_encode(array_keys($out));'
    for (const name of names) {
      const { stdout } = spawnSync('php', ['-n', '-r', script, '--', `${name}=1`])
      expect([name, stdout.toString()]).toEqual([name, '["user_id"]'])
    }
  })

  test.each([
    ['a semicolon as arg_separator', `text=a;user_id=${OTHER}`],
    ['a byte order mark', `\uFEFF${fields}`],
  ])('%s', async (_, text) => {
    const code = 'malformed_body'
    expect(await decide(form(text))).toMatchObject({ ...rejected, code })
  })
})

describe('Python, Perl and old Ruby (a semicolon separates fields)', () => {
  test.each([`text=a;user_id=${OTHER}`, `text=a;payload={}`, `;user_id=${OTHER}`])(
    '%s',
    async (field) => {
      const code = 'malformed_body'
      expect(await decide(commandWith(field))).toMatchObject({ ...rejected, code })
    },
  )
})

describe('Ruby (Rack and Rails, which nest names and override the method)', () => {
  test.each(['_method=DELETE', `user_id[]=${OTHER}`, `[user_id]=${OTHER}`, 'utf8=%E2%9C%93'])(
    '%s',
    async (field) => {
      const code = 'unknown_payload'
      expect(await decide(commandWith(field))).toMatchObject({ ...rejected, code })
    },
  )
})

describe('Java (equalsIgnoreCase, and the charset of the request)', () => {
  test.each<[string, Signed, string]>([
    [
      'a dotless i',
      signedJson(eventBody({ type: 'reaction_added', user_ıd: OTHER })),
      'ambiguous_payload',
    ],
    [
      'a dotted I',
      signedJson(eventBody({ type: 'reaction_added', user_İd: OTHER })),
      'ambiguous_payload',
    ],
    ...['utf-16', 'ibm037', 'iso-8859-1', 'utf-8; charset=utf-16'].map(
      (charset): [string, Signed, string] => [
        `a form in ${charset}`,
        signed(fields, { contentType: `${FORM}; charset=${charset}` }),
        'unknown_content_type',
      ],
    ),
  ])('%s', async (_, request, code) => {
    expect(await decide(request)).toMatchObject({ ...rejected, code })
  })
})

describe('C (where a name ends with a NUL)', () => {
  test.each<[string, Signed]>([
    ['beside the right name', signedJson(eventBody({ ...message, 'user\0': OTHER }))],
    ['alone', signedJson(eventBody({ type: 'reaction_added', 'user\0x': OTHER }))],
  ])('%s', async (_, request) => {
    expect(await decide(request)).toMatchObject({ ...rejected, code: 'ambiguous_payload' })
  })
})

describe('what Slack sends is accepted', () => {
  test.each(Object.entries(samples))('%s', async (_, sample) => {
    expect(await decide(sample())).toMatchObject({ ok: true })
  })

  test('a slash command with every field that Slack documents', async () => {
    const all = { ...command, enterprise_id: 'E0ORG', enterprise_name: 'Globular Construct Inc' }
    const request = form(new URLSearchParams(all).toString())
    expect(await decide(request)).toMatchObject({ ok: true, payload: { kind: 'command' } })
  })

  test('text with any character, which Slack encodes', async () => {
    const text = 'a;b&user_id=U0OTHER\uFEFF\u0000 [x] ü 😀'
    const request = form(new URLSearchParams({ ...command, text }).toString())
    expect(await decide(request)).toMatchObject({ ok: true, payload: { body: { text } } })
  })

  test.each<[string, Signed]>([
    [
      'block ids and action ids of a view',
      signedPayload({
        ...viewSubmission,
        view: {
          ...view,
          state: {
            values: {
              aB1: { User: { type: 'users_select', selected_user: USER }, user: { value: 'a' } },
              Ab1: { id: { value: 'b' }, ID: { value: 'c' } },
            },
          },
        },
      }),
    ],
    [
      'fields of a dialog',
      signedPayload({ ...blockActions, type: 'dialog_submission', submission: { A: '1', a: '2' } }),
    ],
    [
      'metadata of a message',
      signedJson(
        eventBody({
          ...message,
          metadata: { event_type: 'x', event_payload: { Id: 1, id: 2, in: { A: 1, a: 2 } } },
        }),
      ),
    ],
    [
      'inputs of a function',
      signedJson(eventBody({ type: 'function_executed', inputs: { User: USER, user: USER } })),
    ],
  ])('names that the app has chosen may differ only in case: %s', async (_, request) => {
    expect(await decide(request)).toMatchObject({ ok: true })
  })

  test('ids as names, in capital letters', async () => {
    const body: Body = {
      ...message,
      files: [{ id: 'F1', shares: { public: { C00000001: [{ ts: '1' }] } } }],
      user_profile: { fields: { Xf0DD4Q1: { value: 'x' }, Xf0DD4Q2: { value: 'y' } } },
      team: TEAM,
    }
    expect(await decide(signedJson(eventBody(body)))).toMatchObject({ ok: true })
  })
})

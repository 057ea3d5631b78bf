/** Every event type of Slack's Events API, against a Slack that shows the bot more or less. */
import { describe, expect, test } from 'vitest'
import { type FakeTeam, sampleTeam } from '../../src/fake-slack/fixtures.ts'
import { EVENT_TYPES } from '../../src/payload/event-types.ts'
import { twoKey } from '../../src/verify.ts'
import { eventSamples } from '../support/event-samples.ts'
import { type Body, CHANNEL, eventBody, TEAM, USER } from '../support/samples.ts'
import { official, signedJson } from '../support/signed.ts'
import { createTestCheckers } from '../support/test-checkers.ts'

/** One machine for each workspace, because its caches are large. */
function createWorkspace(given: Partial<FakeTeam> = {}) {
  const { clock, machine } = createTestCheckers([{ ...sampleTeam, ...given }])
  const keys = twoKey({ signingSecret: official.secret, checker: machine(), clock })
  return async (event: Body) => {
    // Each event has a full budget of calls.
    clock.advance({ minutes: 1 })
    const timestamp = Math.floor(clock.now() / 1000)
    return keys.verify(signedJson(eventBody(event), { timestamp }))
  }
}

const decide = createWorkspace()
const decideWithoutChannels = createWorkspace({ channels: [] })

const types = Object.keys(EVENT_TYPES).toSorted()
const uninstall = ['app_uninstalled']
const checked = types.filter((type) => !uninstall.includes(type))
const ruleOf = (type: string) => EVENT_TYPES[type] as (typeof EVENT_TYPES)[string]
const sample = (type: string) => eventSamples[type] as Body
/** The event with another id in the place of one. */
const replaced = (type: string, from: string, to: string) =>
  JSON.parse(JSON.stringify(sample(type)).replaceAll(`"${from}"`, `"${to}"`)) as Body

test('the table has every type that Slack’s own type definitions have, and no other', () => {
  expect(types).toEqual(Object.keys(eventSamples).toSorted())
  expect(types.length).toBeGreaterThan(80)
})

/** Types whose rule has a user, but whose events name none, or none of the own team. */
const WITHOUT_USER = [
  'channel_deleted',
  'file_change',
  'file_comment_deleted',
  'file_deleted',
  'shared_channel_invite_received',
]
const namesUser = (type: string) => ruleOf(type).user !== 'none' && !WITHOUT_USER.includes(type)

describe('a genuine event is accepted, and the decision says what was verified', () => {
  test.each(checked)('%s', async (type) => {
    expect(await decide(sample(type))).toMatchObject({
      ok: true,
      user: namesUser(type) ? 'verified' : 'unchecked',
      channel: ruleOf(type).channel === 'none' ? 'unchecked' : 'verified',
    })
  })
})

describe('an event from a channel that the bot cannot see', () => {
  const inChannels = checked.filter((type) => ruleOf(type).channel !== 'none')

  test.each(inChannels.filter((type) => ['any', 'removed'].includes(ruleOf(type).channel)))(
    'is accepted as unseen: %s',
    async (type) => {
      expect(await decideWithoutChannels(sample(type))).toMatchObject({
        ok: true,
        channel: 'unseen',
      })
    },
  )

  test.each(inChannels.filter((type) => ruleOf(type).channel === 'joined'))(
    'is refused: %s',
    async (type) => {
      expect(await decideWithoutChannels(sample(type))).toMatchObject({
        ok: false,
        code: 'channel_not_found',
        status: 403,
      })
    },
  )
})

describe('an event in the name of a user whom Slack does not know is refused', () => {
  test.each(checked.filter(namesUser))('%s', async (type) => {
    const forged = replaced(type, USER, 'U0INVENTED')
    expect(await decide(forged)).toMatchObject({ ok: false, code: 'user_not_found' })
  })
})

describe('a person of a workspace that is not connected yet', () => {
  test.each(checked.filter((type) => ruleOf(type).user === 'guest'))(
    'is not looked up, and the decision says so: %s',
    async (type) => {
      const event = replaced(type, TEAM, 'T0PARTNER')
      expect(await decide(event)).toMatchObject({ ok: true, user: 'unchecked' })
    },
  )
})

describe('a type that Slack adds later', () => {
  const event = { type: 'brand_new', user: USER, channel: CHANNEL }

  test('is checked by the ids in the usual places, and its channel must be visible', async () => {
    expect(await decide(event)).toMatchObject({ ok: true, user: 'verified', channel: 'verified' })
    expect(await decideWithoutChannels(event)).toMatchObject({ code: 'channel_not_found' })
    expect(await decide({ ...event, user: 'U0INVENTED' })).toMatchObject({ code: 'user_not_found' })
    expect(await decide({ type: 'brand_new' })).toMatchObject({ ok: true, user: 'unchecked' })
  })

  test('cannot borrow a rule from the prototype of an object', async () => {
    for (const type of ['constructor', '__proto__', 'toString'])
      expect(await decideWithoutChannels({ ...event, type })).toMatchObject({ ok: false })
  })
})

test('a type without a user or channel does not pass with invented ones in the usual places', async () => {
  const forged = { ...sample('emoji_changed'), user: 'U0INVENTED', channel: CHANNEL }
  expect(await decide(forged)).toMatchObject({ code: 'user_not_found' })
  const elsewhere = { ...sample('emoji_changed'), channel: 'C0INVENTED' }
  expect(await decide(elsewhere)).toMatchObject({ code: 'channel_not_found' })
})

test('a second spelling of an additional place is ambiguous', async () => {
  const left = { ...sample('channel_left'), Actor_Id: 'U0OTHER' }
  expect(await decide(left)).toMatchObject({ code: 'ambiguous_payload' })
  const both = { ...sample('channel_left'), user: 'U00000002' }
  expect(await decide(both)).toMatchObject({ code: 'ambiguous_payload' })
})

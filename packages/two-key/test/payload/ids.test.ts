import { testClock } from '@strongroom/kit/testing/test-clock'
import { describe, expect, test } from 'vitest'
import { twoKey, verifySlackRequest } from '../../src/verify.ts'
import { createFakeChecker } from '../support/fake-checker.ts'
import {
  blockActions,
  blockSuggestion,
  type Body,
  CHANNEL,
  command,
  eventBody,
  message,
  messageAction,
  shortcut,
  TEAM,
  USER,
  view,
  viewClosed,
  viewSubmission,
} from '../support/samples.ts'
import { official, type Signed, signedForm, signedJson, signedPayload } from '../support/signed.ts'

async function asked(request: Signed) {
  const checker = createFakeChecker()
  const keys = twoKey({ signingSecret: official.secret, checker, clock: testClock() })
  const decision = await verifySlackRequest(request, keys)
  return { decision, asked: checker.checks, uninstalled: checker.uninstallChecks }
}

/** The ids of an event that the checker receives. */
async function idsOf(event: Body, more?: Body) {
  const result = await asked(signedJson(eventBody(event, more)))
  return result.asked.map(({ ids }) => ids)[0] ?? result.decision
}

const triple = { team: TEAM, user: USER, channel: CHANNEL }

describe('the ids of every payload are found where Slack puts them', () => {
  test.each([
    ['slash command', signedForm(command), 'command', triple],
    ['block_actions', signedPayload(blockActions), 'action', triple],
    ['message_action', signedPayload(messageAction), 'shortcut', triple],
    ['shortcut', signedPayload(shortcut), 'shortcut', { team: TEAM, user: USER }],
    ['view_submission', signedPayload(viewSubmission), 'view', { team: TEAM, user: USER }],
    ['view_closed', signedPayload(viewClosed), 'view', { team: TEAM, user: USER }],
    ['block_suggestion', signedPayload(blockSuggestion), 'options', { team: TEAM, user: USER }],
    ['event_callback', signedJson(eventBody(message)), 'event', triple],
  ])('%s', async (_, request, kind, ids) => {
    const { decision, asked: questions } = await asked(request)
    expect(decision).toMatchObject({ ok: true, source: 'slack', payload: { kind, ids } })
    expect(questions.map((each) => each.ids)).toEqual([ids])
  })

  test.each<[string, Body, object]>([
    ['app_mention', { ...message, type: 'app_mention' }, triple],
    [
      'message in a DM',
      { ...message, channel: 'D00000001', channel_type: 'im' },
      { ...triple, channel: 'D00000001' },
    ],
    [
      'message of a bot',
      { type: 'message', subtype: 'bot_message', bot_id: 'B00000001', channel: CHANNEL },
      { team: TEAM, bot: 'B00000001', channel: CHANNEL },
    ],
    [
      'message_changed',
      { type: 'message', subtype: 'message_changed', channel: CHANNEL, message: { user: USER } },
      triple,
    ],
    [
      'message_deleted',
      { type: 'message', subtype: 'message_deleted', channel: CHANNEL },
      { team: TEAM, channel: CHANNEL },
    ],
    [
      'reaction_added',
      { type: 'reaction_added', user: USER, item: { type: 'message', channel: CHANNEL, ts: '1' } },
      triple,
    ],
    [
      'reaction to a file',
      { type: 'reaction_added', user: USER, item: { type: 'file', file: 'F1' } },
      { team: TEAM, user: USER },
    ],
    [
      'pin_added',
      { type: 'pin_added', user: USER, channel_id: CHANNEL, item: { channel: CHANNEL } },
      triple,
    ],
    [
      'file_shared',
      { type: 'file_shared', user_id: USER, channel_id: CHANNEL, file_id: 'F1' },
      triple,
    ],
    [
      'team_join',
      { type: 'team_join', user: { id: USER, team_id: TEAM } },
      { team: TEAM, user: USER },
    ],
    [
      'user_change',
      { type: 'user_change', user: { id: USER, deleted: false } },
      { team: TEAM, user: USER },
    ],
    [
      'channel_created',
      { type: 'channel_created', channel: { id: CHANNEL, creator: USER } },
      triple,
    ],
    [
      'channel_rename',
      { type: 'channel_rename', channel: { id: CHANNEL, name: 'n' } },
      { team: TEAM, channel: CHANNEL },
    ],
    [
      'assistant_thread_started',
      {
        type: 'assistant_thread_started',
        assistant_thread: { user_id: USER, channel_id: 'D00000001' },
      },
      { ...triple, channel: 'D00000001' },
    ],
    [
      'link_shared in a message draft',
      { type: 'link_shared', user: USER, channel: 'COMPOSER' },
      { team: TEAM, user: USER },
    ],
    [
      'function_executed',
      { type: 'function_executed', function_execution_id: 'Fx1' },
      { team: TEAM },
    ],
    [
      'app_home_opened',
      { type: 'app_home_opened', user: USER, channel: 'D00000001', tab: 'home' },
      { ...triple, channel: 'D00000001' },
    ],
  ])('event: %s', async (_, event, ids) => {
    expect(await idsOf(event)).toEqual(ids)
  })

  test('a user or channel that the event reports as deleted need not exist', async () => {
    expect(await idsOf({ type: 'user_change', user: { id: USER, deleted: true } })).toEqual({
      team: TEAM,
    })
    const { asked: questions } = await asked(
      signedJson(eventBody({ type: 'channel_deleted', channel: CHANNEL })),
    )
    expect(questions[0]?.options.channelPolicy).toBe('if-visible')
    // A message does not become such an event by claiming to be one.
    expect(await idsOf({ ...message, user: { id: USER, deleted: true } })).toEqual(triple)
  })
})

describe('the team whose token is used', () => {
  test('for an event is the authorized team, and all other teams in the event must exist too', async () => {
    const ids = await idsOf(
      { ...message, team: 'T0EVENT', user_team: 'T0USER', source_team: 'T0USER' },
      { team_id: 'T0OUTER', context_team_id: 'T0CONTEXT' },
    )
    expect(ids).toEqual({ ...triple, otherTeams: ['T0CONTEXT', 'T0OUTER', 'T0EVENT', 'T0USER'] })
    const without = { authorizations: undefined, context_team_id: 'T0CONTEXT' }
    expect(await idsOf(message, without)).toMatchObject({ team: 'T0CONTEXT', otherTeams: [TEAM] })
    const outer = { authorizations: [], context_team_id: null }
    expect(await idsOf(message, outer)).toEqual(triple)
  })

  test('for an org-wide installation is the team of the payload, or the organisation', async () => {
    const orgWide = { enterprise_id: 'E0ORG', team_id: null, is_enterprise_install: true }
    expect(await idsOf(message, { authorizations: [orgWide] })).toEqual({
      ...triple,
      enterprise: 'E0ORG',
    })
    const { asked: byUser } = await asked(
      signedPayload({ ...shortcut, team: null, enterprise: { id: 'E0ORG' } }),
    )
    expect(byUser[0]?.ids).toEqual({ team: TEAM, enterprise: 'E0ORG', user: USER })
    const { asked: byOrg } = await asked(
      signedPayload({ ...shortcut, team: null, user: { id: USER }, enterprise: { id: 'E0ORG' } }),
    )
    expect(byOrg[0]?.ids).toEqual({ team: 'E0ORG', enterprise: 'E0ORG', user: USER })
  })

  test('for a view is the team where the app is installed', async () => {
    const { asked: questions } = await asked(
      signedPayload({ ...viewSubmission, view: { ...view, app_installed_team_id: 'T0HOST' } }),
    )
    expect(questions[0]?.ids).toEqual({ team: 'T0HOST', user: USER, otherTeams: [TEAM] })
  })

  test('has its own organisation, whichever organisation the other side of a shared channel has', async () => {
    expect(await idsOf(message, { enterprise_id: 'E0OTHER' })).toEqual(triple)
    const alone = { authorizations: undefined, enterprise_id: 'E0ORG' }
    expect(await idsOf(message, alone)).toEqual({ ...triple, enterprise: 'E0ORG' })
    const { asked: questions } = await asked(
      signedPayload({
        ...viewSubmission,
        team: { id: 'T0GUEST' },
        enterprise: { id: 'E0OTHER' },
        user: { id: USER, team_id: 'T0GUEST' },
      }),
    )
    expect(questions[0]?.ids).toEqual({ team: TEAM, user: USER, otherTeams: ['T0GUEST'] })
  })

  test('is one of at most five teams in a payload', async () => {
    const authorizations = Array.from({ length: 6 }, (_, index) => ({ team_id: `T0${index}` }))
    expect(await idsOf(message, { authorizations })).toMatchObject({
      ok: false,
      code: 'ambiguous_payload',
    })
  })
})

describe('payloads without ids', () => {
  test.each([
    ['url_verification', signedJson({ type: 'url_verification', challenge: 'c', token: 't' })],
    ['ssl_check', signedForm({ ssl_check: '1', token: 't' })],
    [
      'app_rate_limited',
      signedJson({ type: 'app_rate_limited', team_id: TEAM, minute_rate_limited: 1 }),
    ],
  ])('need only the signature: %s', async (kind, request) => {
    const result = await asked(request)
    expect(result.decision).toMatchObject({ ok: true, source: 'signature', payload: { kind } })
    expect(result.asked).toEqual([])
    const headers = { ...request.headers, 'x-slack-signature': `v0=${'0'.repeat(64)}` }
    expect((await asked({ ...request, headers })).decision).toMatchObject({
      ok: false,
      status: 401,
    })
  })

  test.each([
    ['app_uninstalled', { type: 'app_uninstalled' }],
    ['tokens_revoked', { type: 'tokens_revoked', tokens: { oauth: [], bot: ['U0000BOT1'] } }],
  ])('that report an uninstall are accepted only if the token is revoked: %s', async (_, event) => {
    const result = await asked(signedJson(eventBody(event)))
    expect([result.asked, result.uninstalled]).toEqual([[], [{ team: TEAM }]])
  })

  test.each<[string, Body, Body]>([
    ['another team outside', { team_id: 'T0OUTER' }, { team: TEAM, otherTeams: ['T0OUTER'] }],
    [
      'another authorized team',
      { authorizations: [{ team_id: 'T0OTHER', enterprise_id: null }] },
      { team: 'T0OTHER', otherTeams: [TEAM] },
    ],
    ['its organisation', { enterprise_id: 'E0000001' }, { team: TEAM, enterprise: 'E0000001' }],
    [
      'only an organisation',
      {
        team_id: null,
        context_team_id: null,
        authorizations: [{ team_id: null, enterprise_id: 'E0000001', is_enterprise_install: true }],
      },
      { team: 'E0000001', enterprise: 'E0000001', isOrgWide: true },
    ],
  ])(
    'that report an uninstall are checked for every team they name: %s',
    async (_, more, installation) => {
      const result = await asked(signedJson(eventBody({ type: 'app_uninstalled' }, more)))
      expect(result.uninstalled).toEqual([installation])
    },
  )

  test('a revocation of user tokens does not count as an uninstall', async () => {
    const event = { type: 'tokens_revoked', tokens: { oauth: [USER], bot: [] } }
    expect(await idsOf(event)).toEqual({ team: TEAM })
  })
})

/** One request of each kind, with the ids of the fake Slack's sample workspace. */
import { sampleTeam } from '../../src/fake-slack/fixtures.ts'
import { type Signed, signedForm, signedJson, signedPayload } from './signed.ts'

export const TEAM = sampleTeam.id
export const APP = 'A00000001'
export const USER = 'U00000001'
export const CHANNEL = 'C00000001'

export type Body = Record<string, unknown>

/** An event as the Events API sends it. */
export function eventBody(event: Body, more: Body = {}): Body {
  return {
    token: 'verification',
    team_id: TEAM,
    context_team_id: TEAM,
    api_app_id: APP,
    type: 'event_callback',
    event_id: 'Ev00000001',
    event_time: 1_700_000_000,
    authorizations: [
      {
        enterprise_id: null,
        team_id: TEAM,
        user_id: 'U0000BOT1',
        is_bot: true,
        is_enterprise_install: false,
      },
    ],
    event,
    ...more,
  }
}

export const message: Body = {
  type: 'message',
  channel: CHANNEL,
  user: USER,
  text: 'hello',
  ts: '1700000000.000100',
  team: TEAM,
  channel_type: 'channel',
}

export const command = {
  token: 'verification',
  team_id: TEAM,
  team_domain: 'fake',
  channel_id: CHANNEL,
  channel_name: 'general',
  user_id: USER,
  user_name: 'ada',
  command: '/deploy',
  text: 'café to production',
  api_app_id: APP,
  is_enterprise_install: 'false',
  response_url: 'https://hooks.slack.com/commands/T00000001/1/a',
  trigger_id: '1.2.3',
}

const who = {
  team: { id: TEAM, domain: 'fake' },
  user: { id: USER, name: 'ada', team_id: TEAM },
  enterprise: null,
}

export const blockActions: Body = {
  type: 'block_actions',
  ...who,
  api_app_id: APP,
  channel: { id: CHANNEL, name: 'general' },
  container: { type: 'message', message_ts: '1700000000.000100', channel_id: CHANNEL },
  response_url: 'https://hooks.slack.com/actions/T00000001/1/a',
  trigger_id: '1.2.3',
  actions: [{ type: 'button', action_id: 'approve', block_id: 'b', value: '1', action_ts: '1' }],
}

export const messageAction: Body = {
  type: 'message_action',
  ...who,
  callback_id: 'archive',
  channel: { id: CHANNEL, name: 'general' },
  message: { type: 'message', text: 'hello', ts: '1700000000.000100' },
  message_ts: '1700000000.000100',
  response_url: 'https://hooks.slack.com/app/T00000001/1/a',
  trigger_id: '1.2.3',
}

export const shortcut: Body = {
  type: 'shortcut',
  ...who,
  callback_id: 'new-ticket',
  trigger_id: '1.2.3',
  action_ts: '1700000000.000100',
}

export const view: Body = {
  id: 'V00000001',
  team_id: TEAM,
  type: 'modal',
  callback_id: 'ticket',
  app_installed_team_id: TEAM,
  state: { values: {} },
}

export const viewSubmission: Body = {
  type: 'view_submission',
  ...who,
  api_app_id: APP,
  view,
  response_urls: [],
}

export const viewClosed: Body = { ...viewSubmission, type: 'view_closed', is_cleared: false }

export const blockSuggestion: Body = {
  type: 'block_suggestion',
  ...who,
  api_app_id: APP,
  action_id: 'choose',
  block_id: 'b',
  value: 'a',
  container: { type: 'view', view_id: 'V00000001' },
  view,
}

/** What reaches listeners, by name. */
export const samples: Readonly<Record<string, (options?: { timestamp?: number }) => Signed>> = {
  message: (options) => signedJson(eventBody(message), options),
  command: (options) => signedForm(command, options),
  block_actions: (options) => signedPayload(blockActions, options),
  message_action: (options) => signedPayload(messageAction, options),
  shortcut: (options) => signedPayload(shortcut, options),
  view_submission: (options) => signedPayload(viewSubmission, options),
  view_closed: (options) => signedPayload(viewClosed, options),
  block_suggestion: (options) => signedPayload(blockSuggestion, options),
}

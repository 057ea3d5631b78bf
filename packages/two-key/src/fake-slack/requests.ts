/** Signed requests as Slack sends them to an app. */
import { createHmac } from 'node:crypto'
import { sampleTeam } from './fixtures.ts'

export const fakeKinds = ['message', 'mention', 'command', 'action', 'shortcut', 'view'] as const
export type FakeKind = (typeof fakeKinds)[number]

export interface FakeRequestOptions {
  signingSecret: string
  nowMs: number
  team?: string
  user?: string
  channel?: string
  /** The text of the message, or after the command. */
  text?: string
  /** The command without its slash, or the id of the action, shortcut or view. */
  name?: string
}

export interface FakeRequest {
  body: string
  headers: Record<string, string>
}

export function fakeRequest(kind: FakeKind, options: FakeRequestOptions): FakeRequest {
  const { signingSecret, nowMs } = options
  const [contentType, body] = contentOf(kind, options)
  const timestamp = String(Math.floor(nowMs / 1000))
  const signature = createHmac('sha256', signingSecret).update(`v0:${timestamp}:${body}`)
  return {
    body,
    headers: {
      'content-type': contentType,
      'x-slack-request-timestamp': timestamp,
      'x-slack-signature': `v0=${signature.digest('hex')}`,
    },
  }
}

function contentOf(kind: FakeKind, options: FakeRequestOptions): [string, string] {
  const { nowMs, team = sampleTeam.id, user = 'U00000001', channel = 'C00000001' } = options
  const { text = 'hello', name = 'fake' } = options
  const api_app_id = sampleTeam.app
  const ts = (nowMs / 1000).toFixed(6)
  const who = { team: { id: team }, user: { id: user, team_id: team }, trigger_id: '1.2.3' }
  const where = { channel: { id: channel }, container: { type: 'message', channel_id: channel } }
  const response_url = `https://hooks.slack.com/actions/${team}/1/fake`

  switch (kind) {
    case 'message':
    case 'mention':
      return json({
        type: 'event_callback',
        team_id: team,
        context_team_id: team,
        api_app_id,
        event_id: `Ev${nowMs.toString(36).toUpperCase()}`,
        event_time: Math.floor(nowMs / 1000),
        authorizations: [
          { enterprise_id: null, team_id: team, user_id: 'U0000BOT1', is_bot: true },
        ],
        event: {
          type: kind === 'message' ? 'message' : 'app_mention',
          user,
          channel,
          text,
          ts,
          team,
        },
      })
    case 'command': {
      const names = {
        team_id: team,
        user_id: user,
        channel_id: channel,
        api_app_id: api_app_id ?? '',
      }
      return form({ ...names, command: `/${name}`, text, response_url, trigger_id: '1.2.3' })
    }
    case 'action': {
      const actions = [{ type: 'button', action_id: name, value: text, action_ts: ts }]
      return form(
        payload({ type: 'block_actions', api_app_id, ...who, ...where, response_url, actions }),
      )
    }
    case 'shortcut':
      return form(payload({ type: 'shortcut', ...who, callback_id: name, action_ts: ts }))
    case 'view': {
      const view = {
        id: 'V1',
        type: 'modal',
        callback_id: name,
        team_id: team,
        state: { values: {} },
      }
      return form(payload({ type: 'view_submission', api_app_id, ...who, view }))
    }
  }
}

const json = (body: object): [string, string] => ['application/json', JSON.stringify(body)]
const payload = (body: object) => ({ payload: JSON.stringify(body) })
const form = (fields: Record<string, string>): [string, string] => [
  'application/x-www-form-urlencoded',
  new URLSearchParams(fields).toString(),
]

/** What a request of Slack is, and which ids it names: the table that everything else goes by. */
import type { Installation, SlackIds } from '../existence/verdict.ts'
import type { ReadBody, Wrapping } from './body.ts'
import { channelMayBeGone, eventIds, installationOf } from './event-ids.ts'
import { isObject, type JsonObject, objectAt, own } from './json.ts'
import { PayloadRefused } from './refusal.ts'
import { commandIds, interactionIds } from './request-ids.ts'

/** Which kind of listener gets it. */
export type RequestKind = 'event' | 'command' | 'action' | 'options' | 'shortcut' | 'view'

/** A payload whose ids must exist. */
export interface CheckedPayload {
  kind: RequestKind
  /** Slack's name of it: the type of the event, of the interaction, or `slash_command`. */
  type: string
  body: JsonObject
  ids: SlackIds
  eventId?: string
  /** It may tell that the channel is gone. */
  channelMayBeGone?: true
}

/** A payload that says that the app is gone from a team: its token must be dead. */
export interface UninstallPayload extends Installation {
  kind: 'uninstall'
  type: string
  body: JsonObject
  eventId?: string
}

/** Payloads without anybody to check: the signature is all there is. */
export type SignedOnlyPayload =
  | { kind: 'ssl_check' }
  | { kind: 'url_verification'; challenge: string }
  | { kind: 'app_rate_limited'; body: JsonObject }

export type SlackPayload = CheckedPayload | UninstallPayload | SignedOnlyPayload

const INTERACTIONS: Readonly<Record<string, RequestKind>> = {
  block_actions: 'action',
  interactive_message: 'action',
  dialog_submission: 'action',
  dialog_cancellation: 'action',
  workflow_step_edit: 'action',
  block_suggestion: 'options',
  dialog_suggestion: 'options',
  message_action: 'shortcut',
  shortcut: 'shortcut',
  view_submission: 'view',
  view_closed: 'view',
}

/** By one of these a handler may take a payload for another kind than it says it is. */
const TELLING = ['event', 'command', 'actions', 'view', 'name', 'payload']

/** Throws `PayloadRefused` for what Slack does not send. */
export function payloadOf({ wrapping, body }: ReadBody): SlackPayload {
  if (wrapping === 'form' && own(body, 'ssl_check') !== undefined) return { kind: 'ssl_check' }
  if (wrapping === 'json') {
    const type = own(body, 'type')
    if (type === 'url_verification') return urlVerification(body)
    if (type === 'app_rate_limited') {
      expectNone(body, TELLING)
      return { kind: 'app_rate_limited', body }
    }
  }
  return listenedPayload(body, wrapping)
}

/** A payload that reaches listeners, from a body that was read already, as Bolt has it. */
export function listenedPayload(
  body: JsonObject,
  wrapping?: Wrapping,
): CheckedPayload | UninstallPayload {
  const type = own(body, 'type')
  if (own(body, 'event') !== undefined) {
    expectOnly(wrapping, 'json')
    if (type !== 'event_callback') throw new PayloadRefused('ambiguous_payload')
    return eventPayload(body)
  }
  if (own(body, 'command') !== undefined) {
    expectOnly(wrapping, 'form')
    expectNone(body, ['type', ...TELLING.filter((name) => name !== 'command')])
    return { kind: 'command', type: 'slash_command', body, ids: commandIds(body) }
  }
  const kind =
    typeof type === 'string' && Object.hasOwn(INTERACTIONS, type) ? INTERACTIONS[type] : undefined
  if (kind === undefined) throw new PayloadRefused('unknown_payload')
  expectOnly(wrapping, 'payload')
  return { kind, type: type as string, body, ids: interactionIds(body) }
}

function expectOnly(wrapping: Wrapping | undefined, expected: Wrapping): void {
  if (wrapping !== undefined && wrapping !== expected) throw new PayloadRefused('unknown_payload')
}

function expectNone(body: JsonObject, names: readonly string[]): void {
  if (names.some((name) => own(body, name) !== undefined)) {
    throw new PayloadRefused('ambiguous_payload')
  }
}

function urlVerification(body: JsonObject): SlackPayload {
  const challenge = own(body, 'challenge')
  if (typeof challenge !== 'string') throw new PayloadRefused('malformed_body')
  return { kind: 'url_verification', challenge }
}

function eventPayload(body: JsonObject): CheckedPayload | UninstallPayload {
  const event = own(body, 'event')
  if (!isObject(event)) throw new PayloadRefused('malformed_body')
  const type = own(event, 'type')
  if (typeof type !== 'string') throw new PayloadRefused('malformed_body')
  expectNone(body, ['command'])
  const eventId = own(body, 'event_id')
  const identified = typeof eventId === 'string' ? { eventId } : {}
  if (type === 'app_uninstalled' || (type === 'tokens_revoked' && namesBotToken(event))) {
    return { kind: 'uninstall', type, body, ...installationOf(body), ...identified }
  }
  const ids = eventIds(body, event, type)
  const gone = channelMayBeGone(type) ? ({ channelMayBeGone: true } as const) : {}
  return { kind: 'event', type, body, ids, ...identified, ...gone }
}

/** Tokens of users may end while the app stays. */
function namesBotToken(event: JsonObject): boolean {
  const bots = own(objectAt(event, 'tokens'), 'bot') ?? []
  // Something else may still be bot tokens to who handles it.
  if (!Array.isArray(bots)) throw new PayloadRefused('malformed_body')
  return bots.length > 0
}

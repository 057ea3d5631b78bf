/** Step two: what kind of payload a request has, and which ids it names. */
import { getHeader, type SignedRequest } from '../signature.ts'
import type { Installation, SlackIds } from '../slack-ids.ts'
import { type BodyEncoding, parseBody, type ParsedBody } from './body.ts'
import { PayloadError, type PayloadErrorCode } from './error.ts'
import { parseEventIds, parseInstallation } from './event-ids.ts'
import { eventRuleOf, mayBeUnseen } from './event-types.ts'
import {
  isObject,
  type JsonObject,
  objectAt,
  ownValue,
  parseCommandIds,
  parseInteractionIds,
} from './ids.ts'
import type { ReadName } from './names.ts'

/** The kind of listener that receives it. */
export type RequestKind = 'event' | 'command' | 'action' | 'options' | 'shortcut' | 'view'

/** A payload whose ids must exist. */
export interface CheckedPayload {
  kind: RequestKind
  /** Slack's name: the type of the event or interaction, or `slash_command`. */
  type: string
  body: JsonObject
  ids: SlackIds
  eventId?: string
  /** Events of this type also come from conversations that the bot cannot see. */
  channelMayBeUnseen?: true
}

/** A payload that reports an uninstall: the token must be revoked. */
export interface UninstallPayload extends Installation {
  kind: 'uninstall'
  type: string
  body: JsonObject
  eventId?: string
}

export type CheckablePayload = CheckedPayload | UninstallPayload

/** Payloads without ids: the signature is the only check. */
export type SignedOnlyPayload =
  | { kind: 'ssl_check' }
  | { kind: 'url_verification'; challenge: string }
  | { kind: 'app_rate_limited'; body: JsonObject }

export type SlackPayload = CheckablePayload | SignedOnlyPayload

export type Parsed<Payload> = { payload: Payload } | { error: PayloadErrorCode }

export function parsePayload({ rawBody, headers }: SignedRequest): Parsed<SlackPayload> {
  return catchPayloadError(() => toPayload(parseBody(rawBody, getHeader(headers, 'content-type'))))
}

/** A payload for listeners, from a body that was parsed already, as in Bolt. */
export function parseListenerPayload(body: JsonObject): Parsed<CheckablePayload> {
  return catchPayloadError(() => toListenerPayload(body))
}

export function isCheckable(payload: SlackPayload): payload is CheckablePayload {
  switch (payload.kind) {
    case 'ssl_check':
    case 'url_verification':
    case 'app_rate_limited':
      return false
    default:
      return true
  }
}

function catchPayloadError<Payload>(parse: () => Payload): Parsed<Payload> {
  try {
    return { payload: parse() }
  } catch (error) {
    if (error instanceof PayloadError) return { error: error.code }
    throw error
  }
}

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

/** Fields by which a handler may take a payload for another kind than its type says. */
const DISCRIMINATORS = ['event', 'command', 'actions', 'view', 'name', 'payload'] as const

function toPayload({ encoding, body }: ParsedBody): SlackPayload {
  if (encoding === 'form' && ownValue(body, 'ssl_check') !== undefined) return { kind: 'ssl_check' }
  if (encoding === 'json') {
    const type = ownValue(body, 'type')
    if (type === 'url_verification') return toUrlVerification(body)
    if (type === 'app_rate_limited') {
      requireAbsent(body, DISCRIMINATORS)
      return { kind: 'app_rate_limited', body }
    }
  }
  return toListenerPayload(body, encoding)
}

function toListenerPayload(body: JsonObject, encoding?: BodyEncoding): CheckablePayload {
  const type = ownValue(body, 'type')
  if (ownValue(body, 'event') !== undefined) {
    requireEncoding(encoding, 'json')
    if (type !== 'event_callback') throw new PayloadError('ambiguous_payload')
    return toEventPayload(body)
  }
  if (ownValue(body, 'command') !== undefined) {
    requireEncoding(encoding, 'form')
    requireAbsent(body, ['type', ...DISCRIMINATORS.filter((name) => name !== 'command')])
    return { kind: 'command', type: 'slash_command', body, ids: parseCommandIds(body) }
  }
  const kind =
    typeof type === 'string' && Object.hasOwn(INTERACTIONS, type) ? INTERACTIONS[type] : undefined
  if (kind === undefined) throw new PayloadError('unknown_payload')
  requireEncoding(encoding, 'payload')
  return { kind, type: type as string, body, ids: parseInteractionIds(body) }
}

function requireEncoding(encoding: BodyEncoding | undefined, expected: BodyEncoding): void {
  if (encoding !== undefined && encoding !== expected) throw new PayloadError('unknown_payload')
}

function requireAbsent(body: JsonObject, names: readonly ReadName[]): void {
  if (names.some((name) => ownValue(body, name) !== undefined)) {
    throw new PayloadError('ambiguous_payload')
  }
}

function toUrlVerification(body: JsonObject): SlackPayload {
  const challenge = ownValue(body, 'challenge')
  if (typeof challenge !== 'string') throw new PayloadError('malformed_body')
  return { kind: 'url_verification', challenge }
}

function toEventPayload(body: JsonObject): CheckablePayload {
  const event = ownValue(body, 'event')
  if (!isObject(event)) throw new PayloadError('malformed_body')
  const type = ownValue(event, 'type')
  if (typeof type !== 'string') throw new PayloadError('malformed_body')
  requireAbsent(body, ['command'])
  const id = ownValue(body, 'event_id')
  const eventId = typeof id === 'string' ? { eventId: id } : {}
  if (type === 'app_uninstalled' || (type === 'tokens_revoked' && revokesBotToken(event))) {
    return { kind: 'uninstall', type, body, ...parseInstallation(body), ...eventId }
  }
  const ids = parseEventIds(body, event, type)
  const unseen = mayBeUnseen(eventRuleOf(type)) ? ({ channelMayBeUnseen: true } as const) : {}
  return { kind: 'event', type, body, ids, ...eventId, ...unseen }
}

/** Tokens of users may be revoked while the app stays installed. */
function revokesBotToken(event: JsonObject): boolean {
  const bots = ownValue(objectAt(event, 'tokens'), 'bot') ?? []
  // A handler may still take another value for bot tokens.
  if (!Array.isArray(bots)) throw new PayloadError('malformed_body')
  return bots.length > 0
}

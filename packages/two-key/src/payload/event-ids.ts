/** Where events of the Events API name team, user and channel. */
import type { Installation, SlackIds } from '../slack-ids.ts'
import {
  parseId,
  unambiguousId,
  toSlackIds,
  isObject,
  type JsonObject,
  objectAt,
  ownValue,
} from './ids.ts'
import { PayloadError } from './error.ts'
import { type EventRule, eventRuleOf } from './event-types.ts'
import type { ReadName } from './names.ts'

/** Subtypes of messages that have an author; other subtypes report a change. */
const AUTHORED_SUBTYPES = new Set([
  undefined,
  'bot_message',
  'file_share',
  'me_message',
  'thread_broadcast',
])

export function parseEventIds(body: JsonObject, event: JsonObject, type: string): SlackIds {
  const rule = eventRuleOf(type)
  const authorizations = authorizationsOf(body)
  const [first = {}] = authorizations
  const team = teamOf(body, first)
  const user = isDeletedUser(event, rule) ? undefined : userOf(event, rule, team)
  const bot =
    user === undefined
      ? unambiguousId(ownValue(event, 'bot_id'), ownValue(objectAt(event, 'message'), 'bot_id'))
      : undefined
  const channel = channelOf(event, type, rule)
  if (type === 'app_mention' || type === 'message') {
    const isAuthored = type === 'app_mention' || AUTHORED_SUBTYPES.has(subtypeOf(event))
    if (channel === undefined) throw new PayloadError('missing_id')
    if (isAuthored && user === undefined && bot === undefined) throw new PayloadError('missing_id')
  }
  return toSlackIds({
    team,
    // In a shared channel, the outer organisation may be the other side's.
    enterprise: parseId(ownValue(authorizations.length > 0 ? first : body, 'enterprise_id')),
    user,
    bot,
    channel,
    teams: [
      ...outerTeams(body, authorizations),
      stringOnly(ownValue(event, 'team')),
      ownValue(event, 'team_id'),
      ownValue(event, 'user_team'),
      ownValue(event, 'source_team'),
      ownValue(objectAt(event, 'user'), 'team_id'),
    ],
  })
}

/** A handler may read any of these ids, so all of them must be uninstalled. */
export function parseInstallation(body: JsonObject): Installation {
  const authorizations = authorizationsOf(body)
  const places = [...authorizations, body]
  const installation = toSlackIds({
    team: teamOf(body, authorizations[0] ?? {}),
    enterprise: unambiguousId(...places.map((each) => ownValue(each, 'enterprise_id'))),
    teams: outerTeams(body, authorizations),
  })
  const isOrgWide = places.some((each) => Boolean(ownValue(each, 'is_enterprise_install')))
  return isOrgWide ? { ...installation, isOrgWide } : installation
}

function teamOf(body: JsonObject, authorization: JsonObject): string | undefined {
  return (
    parseId(ownValue(authorization, 'team_id')) ??
    parseId(ownValue(body, 'context_team_id')) ??
    parseId(ownValue(body, 'team_id'))
  )
}

function outerTeams(body: JsonObject, authorizations: readonly JsonObject[]): unknown[] {
  const named = authorizations.map((each) => ownValue(each, 'team_id'))
  return [...named, ownValue(body, 'context_team_id'), ownValue(body, 'team_id')]
}

function authorizationsOf(body: JsonObject): readonly JsonObject[] {
  const value = ownValue(body, 'authorizations')
  if (value === undefined || value === null) return []
  if (!Array.isArray(value) || !value.every(isObject)) throw new PayloadError('malformed_body')
  return value
}

function subtypeOf(event: JsonObject): string | undefined {
  const subtype = ownValue(event, 'subtype') ?? undefined
  if (subtype !== undefined && typeof subtype !== 'string') {
    throw new PayloadError('malformed_body')
  }
  return subtype
}

/** The event is about that user, who did not cause it. */
function isDeletedUser(event: JsonObject, { user }: EventRule): boolean {
  return user === 'described' && ownValue(objectAt(event, 'user'), 'deleted') === true
}

function userOf(
  event: JsonObject,
  { userAt, guestAt }: EventRule,
  team: string | undefined,
): string | undefined {
  return (
    unambiguousId(
      idOrObject(ownValue(event, 'user')),
      ownValue(event, 'user_id'),
      userAt && ownValue(event, userAt),
      guestAt && ownGuest(event, guestAt, team),
    ) ??
    parseId(ownValue(objectAt(event, 'message'), 'user')) ??
    parseId(ownValue(objectAt(event, 'assistant_thread'), 'user_id')) ??
    parseId(ownValue(objectAt(event, 'channel'), 'creator'))
  )
}

/** Slack shows people of other workspaces only once these are connected. */
function ownGuest(
  event: JsonObject,
  path: readonly ReadName[],
  team: string | undefined,
): string | undefined {
  let guest = event
  for (const name of path) guest = objectAt(guest, name)
  const id = parseId(ownValue(guest, 'id'))
  const guestTeam = parseId(ownValue(guest, 'team_id'))
  return guestTeam === undefined || guestTeam === team ? id : undefined
}

function channelOf(event: JsonObject, type: string, { channelAt }: EventRule): string | undefined {
  // A link in a message draft is in no channel yet.
  if (type === 'link_shared' && ownValue(event, 'channel') === 'COMPOSER') return undefined
  return unambiguousId(
    idOrObject(ownValue(event, 'channel')),
    ownValue(event, 'channel_id'),
    ownValue(objectAt(event, 'item'), 'channel'),
    ownValue(objectAt(event, 'assistant_thread'), 'channel_id'),
    channelAt && ownValue(event, channelAt),
  )
}

/** Some events contain the whole object where others have its id. */
function idOrObject(value: unknown): unknown {
  if (!isObject(value)) return value
  const id = parseId(ownValue(value, 'id'))
  if (id === undefined) throw new PayloadError('missing_id')
  return id
}

/** The team of a message is an id; other events use the same name for objects. */
const stringOnly = (value: unknown): unknown => (typeof value === 'string' ? value : undefined)

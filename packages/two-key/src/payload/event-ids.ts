/** Where events of the Events API name team, user and channel. */
import type { Installation, SlackIds } from '../existence/verdict.ts'
import { idAt, sameId, slackIds } from './ids.ts'
import { isObject, type JsonObject, objectAt, own } from './json.ts'
import { PayloadRefused } from './refusal.ts'

/** Messages that somebody has written, as opposed to those that tell of a change. */
const WRITTEN = new Set([undefined, 'bot_message', 'file_share', 'me_message', 'thread_broadcast'])

/** They tell of a user who may be gone: the user is what they are about, not who acts. */
const ABOUT_A_USER = new Set(['user_change', 'user_profile_changed'])

/** They tell of a conversation that is gone, at least for the bot. */
const CHANNEL_GONE = new Set([
  'channel_deleted',
  'channel_left',
  'channel_unshared',
  'group_close',
  'group_deleted',
  'group_left',
  'im_close',
  'member_left_channel',
  'mpim_close',
])

export const channelMayBeGone = (type: string): boolean => CHANNEL_GONE.has(type)

export function eventIds(body: JsonObject, event: JsonObject, type: string): SlackIds {
  const authorizations = authorizationsOf(body)
  const [first = {}] = authorizations
  const user = isGoneUser(event, type) ? undefined : userOf(event)
  const bot =
    user === undefined
      ? sameId(own(event, 'bot_id'), own(objectAt(event, 'message'), 'bot_id'))
      : undefined
  const channel = channelOf(event, type)
  if (type === 'app_mention' || type === 'message') {
    const isWritten = type === 'app_mention' || WRITTEN.has(subtypeOf(event))
    if (channel === undefined) throw new PayloadRefused('missing_id')
    if (isWritten && user === undefined && bot === undefined) throw new PayloadRefused('missing_id')
  }
  return slackIds({
    team: teamOf(body, first),
    // That of the outer payload may be the organisation of somebody else in a shared channel.
    enterprise: idAt(own(authorizations.length > 0 ? first : body, 'enterprise_id')),
    user,
    bot,
    channel,
    teams: [
      ...outerTeams(body, authorizations),
      teamName(own(event, 'team')),
      own(event, 'team_id'),
      own(event, 'user_team'),
      own(event, 'source_team'),
      own(objectAt(event, 'user'), 'team_id'),
    ],
  })
}

/** Whichever of these a handler reads, that installation must be gone. */
export function installationOf(body: JsonObject): Installation {
  const authorizations = authorizationsOf(body)
  const places = [...authorizations, body]
  const installation = slackIds({
    team: teamOf(body, authorizations[0] ?? {}),
    enterprise: sameId(...places.map((each) => own(each, 'enterprise_id'))),
    teams: outerTeams(body, authorizations),
  })
  const isOrgWide = places.some((each) => Boolean(own(each, 'is_enterprise_install')))
  return isOrgWide ? { ...installation, isOrgWide } : installation
}

function teamOf(body: JsonObject, authorization: JsonObject): string | undefined {
  return (
    idAt(own(authorization, 'team_id')) ??
    idAt(own(body, 'context_team_id')) ??
    idAt(own(body, 'team_id'))
  )
}

function outerTeams(body: JsonObject, authorizations: readonly JsonObject[]): unknown[] {
  const named = authorizations.map((each) => own(each, 'team_id'))
  return [...named, own(body, 'context_team_id'), own(body, 'team_id')]
}

function authorizationsOf(body: JsonObject): readonly JsonObject[] {
  const value = own(body, 'authorizations')
  if (value === undefined || value === null) return []
  if (!Array.isArray(value) || !value.every(isObject)) throw new PayloadRefused('malformed_body')
  return value
}

function subtypeOf(event: JsonObject): string | undefined {
  const subtype = own(event, 'subtype') ?? undefined
  if (subtype !== undefined && typeof subtype !== 'string') {
    throw new PayloadRefused('malformed_body')
  }
  return subtype
}

function isGoneUser(event: JsonObject, type: string): boolean {
  return ABOUT_A_USER.has(type) && own(objectAt(event, 'user'), 'deleted') === true
}

function userOf(event: JsonObject): string | undefined {
  return (
    sameId(idOrObject(own(event, 'user')), own(event, 'user_id')) ??
    idAt(own(objectAt(event, 'message'), 'user')) ??
    idAt(own(objectAt(event, 'assistant_thread'), 'user_id')) ??
    idAt(own(objectAt(event, 'channel'), 'creator'))
  )
}

function channelOf(event: JsonObject, type: string): string | undefined {
  // A link in a message that is still being written is in no channel yet.
  if (type === 'link_shared' && own(event, 'channel') === 'COMPOSER') return undefined
  return sameId(
    idOrObject(own(event, 'channel')),
    own(event, 'channel_id'),
    own(objectAt(event, 'item'), 'channel'),
    own(objectAt(event, 'assistant_thread'), 'channel_id'),
  )
}

/** Some events have the thing itself where others have its id. */
function idOrObject(value: unknown): unknown {
  if (!isObject(value)) return value
  const id = idAt(own(value, 'id'))
  if (id === undefined) throw new PayloadRefused('missing_id')
  return id
}

/** The team of a message is an id; other events have other things by that name. */
const teamName = (value: unknown): unknown => (typeof value === 'string' ? value : undefined)

/** Reads ids from payloads, and those of commands, actions, shortcuts and views. */
import { isSlackId, type SlackIds } from '../slack-ids.ts'
import { PayloadError } from './error.ts'

export type JsonObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A property of the payload itself, never an inherited one. */
export function ownValue(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

/** An empty object if there is none of that name. */
export function objectAt(object: JsonObject, name: string): JsonObject {
  const value = ownValue(object, name)
  return isObject(value) ? value : {}
}

/** Undefined where Slack leaves an id out. */
export function parseId(value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value !== 'string' || !isSlackId(value)) throw new PayloadError('bad_id')
  return value
}

/** An id that a payload names in several places. A handler may read any of them, so all must agree. */
export function unambiguousId(...values: readonly unknown[]): string | undefined {
  let found: string | undefined
  for (const value of values) {
    const id = parseId(value)
    if (id === undefined) continue
    if (found !== undefined && id !== found) throw new PayloadError('ambiguous_payload')
    found = id
  }
  return found
}

/** Each team costs a call to Slack, and real payloads name few. */
const MAX_OTHER_TEAMS = 4

export function toSlackIds(found: {
  team: string | undefined
  enterprise: string | undefined
  user?: string | undefined
  bot?: string | undefined
  channel?: string | undefined
  /** All teams that the payload names. */
  teams: readonly unknown[]
}): SlackIds {
  const { team = found.enterprise, enterprise, user, bot, channel } = found
  if (team === undefined) throw new PayloadError('missing_id')
  const ids: SlackIds = { team }
  if (enterprise !== undefined) ids.enterprise = enterprise
  if (user !== undefined) ids.user = user
  if (bot !== undefined) ids.bot = bot
  if (channel !== undefined) ids.channel = channel
  const otherTeams: string[] = []
  for (const value of found.teams) {
    const id = parseId(value)
    if (id === undefined || id === team || id === enterprise || otherTeams.includes(id)) continue
    otherTeams.push(id)
  }
  if (otherTeams.length > MAX_OTHER_TEAMS) throw new PayloadError('ambiguous_payload')
  if (otherTeams.length > 0) ids.otherTeams = otherTeams
  return ids
}

export function parseCommandIds(body: JsonObject): SlackIds {
  const team = parseId(ownValue(body, 'team_id'))
  const user = parseId(ownValue(body, 'user_id'))
  const channel = parseId(ownValue(body, 'channel_id'))
  if (!team || !user || !channel) throw new PayloadError('missing_id')
  const enterprise = parseId(ownValue(body, 'enterprise_id'))
  return toSlackIds({ team, enterprise, user, channel, teams: [] })
}

/** One function for all interactions: a handler may take a payload for another kind than it is. */
export function parseInteractionIds(body: JsonObject): SlackIds {
  const team = objectAt(body, 'team')
  const user = objectAt(body, 'user')
  const view = objectAt(body, 'view')
  const userId = parseId(ownValue(user, 'id'))
  if (userId === undefined) throw new PayloadError('missing_id')
  const teamId = parseId(ownValue(team, 'id'))
  const installedTeam = parseId(ownValue(view, 'app_installed_team_id')) ?? teamId
  // In a view that was opened through a shared channel, the organisation is the other side's.
  const isOtherTeam = teamId !== undefined && installedTeam !== teamId
  const enterprise =
    parseId(ownValue(objectAt(body, 'enterprise'), 'id')) ??
    parseId(ownValue(team, 'enterprise_id'))
  return toSlackIds({
    team: installedTeam ?? parseId(ownValue(user, 'team_id')),
    enterprise: isOtherTeam ? undefined : enterprise,
    user: userId,
    channel: unambiguousId(
      ownValue(objectAt(body, 'channel'), 'id'),
      ownValue(objectAt(body, 'container'), 'channel_id'),
    ),
    teams: [teamId, ownValue(user, 'team_id'), ownValue(view, 'team_id')],
  })
}

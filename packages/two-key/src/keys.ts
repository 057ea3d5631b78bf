/**
 * The key strings of an app's items. The first app has the specification's own keys; every other app
 * prefixes its keys in all three tables, so that one bot never verifies what another cannot see.
 */
import { isAppName, isSlackId, SLACK_ID, type Triple } from './slack-ids.ts'

export interface AppKeys {
  cacheKey(triple: Triple): { cache_key: string }
  teamKey(team: string): { team_id: string }
  /** Undefined if the key belongs to another app. */
  teamOf(team_id: string): string | undefined
  eventKey(event: string): { event_id: string }
}

const PREFIX = '(?:[a-z0-9-]{1,32}:)?'
const EVENT_ID = '[A-Za-z0-9._-]{1,64}'
const eventId = new RegExp(`^${EVENT_ID}$`)

export const CACHE_KEY = new RegExp(`^${PREFIX}${SLACK_ID}#${SLACK_ID}#${SLACK_ID}$`)
export const TEAM_KEY = new RegExp(`^${PREFIX}${SLACK_ID}$`)
export const EVENT_KEY = new RegExp(`^${PREFIX}${EVENT_ID}$`)

export function isEventId(text: string): boolean {
  return eventId.test(text)
}

/**
 * Without a name: the keys of the first app. No key is built from an id that Slack cannot have
 * issued; callers check what a request names.
 */
export function appKeys(app?: string): AppKeys {
  if (app !== undefined && !isAppName(app)) {
    throw new TypeError('An app name has 1 to 32 lower-case letters, digits and hyphens.')
  }
  const prefix = app === undefined ? '' : `${app}:`

  return {
    cacheKey({ team, user, channel }) {
      for (const [part, id] of Object.entries({ team, user, channel })) {
        if (!isSlackId(id))
          throw new TypeError(`Cannot build cache_key: the ${part} is not a Slack id.`)
      }
      return { cache_key: `${prefix}${team}#${user}#${channel}` }
    },

    teamKey(team) {
      if (!isSlackId(team)) throw new TypeError('Cannot build team_id: the team is not a Slack id.')
      return { team_id: prefix + team }
    },

    teamOf(team_id) {
      const team = team_id.slice(prefix.length)
      return team_id.startsWith(prefix) && isSlackId(team) ? team : undefined
    },

    eventKey(event) {
      if (!isEventId(event))
        throw new TypeError('Cannot build event_id: it is not a Slack event id.')
      return { event_id: prefix + event }
    },
  }
}

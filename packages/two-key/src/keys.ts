/**
 * The key strings of an app's entries. The first app has the specification's own keys; every other
 * app prefixes its keys in all three tables: one bot must not vouch for what another cannot see.
 */

export interface SlackIds {
  team: string
  user: string
  channel: string
}

/** An id that cannot be Slack's, so that no key is made of it. */
export class InvalidSlackId extends Error {
  override readonly name = 'InvalidSlackId'
  /** The attribute that would have held it. */
  readonly attribute: string
  readonly part: string

  constructor(attribute: string, part: string) {
    super(`Cannot make a ${attribute}: the ${part} is not an id of Slack`)
    this.attribute = attribute
    this.part = part
  }
}

export interface AppKeys {
  cacheKey(ids: SlackIds): { cache_key: string }
  teamKey(team: string): { team_id: string }
  eventKey(event: string): { event_id: string }
}

const SLACK_ID = /^[A-Z0-9]{2,32}$/
/** Slack's ids are opaque: no more is known of one than what it is made of. */
export function isSlackId(text: string): boolean {
  return SLACK_ID.test(text)
}

const EVENT_ID = /^[A-Za-z0-9._-]{1,64}$/
const APP_NAME = /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/

export function isAppName(text: string): boolean {
  return APP_NAME.test(text)
}

export function appKeys(app?: string): AppKeys {
  if (app !== undefined && !isAppName(app)) {
    throw new TypeError('An app has a name of 1 to 32 lower-case letters, digits and hyphens')
  }
  const prefix = app === undefined ? '' : `${app}:`

  return {
    cacheKey(ids) {
      const { team, user, channel } = ids
      for (const [part, id] of Object.entries({ team, user, channel })) {
        if (!isSlackId(id)) throw new InvalidSlackId('cache_key', part)
      }
      return { cache_key: `${prefix}${team}#${user}#${channel}` }
    },

    teamKey(team) {
      if (!isSlackId(team)) throw new InvalidSlackId('team_id', 'team')
      return { team_id: prefix + team }
    },

    eventKey(event) {
      if (!EVENT_ID.test(event)) throw new InvalidSlackId('event_id', 'event')
      return { event_id: prefix + event }
    },
  }
}

/** Slack's ids: their format, and the groups of ids that a payload names. */

/** The ids that a request names, as far as its payload has them. */
export interface SlackIds {
  /** The team whose token is used; the organisation's id where the app is installed org-wide. */
  team: string
  /** The organisation, where the payload names one. */
  enterprise?: string
  user?: string
  /** A bot (B…) that acts instead of a user. */
  bot?: string
  channel?: string
  /** Further teams that the payload names; they must exist too. */
  otherTeams?: readonly string[]
}

/** The ids that one entry of the shared cache verifies. */
export interface Triple {
  team: string
  user: string
  channel: string
}

/** An installation that a payload reports as removed, by every id that a handler may read. */
export interface Installation {
  team: string
  enterprise?: string
  otherTeams?: readonly string[]
  /** The app was installed for the whole organisation. */
  isOrgWide?: true
}

/** Slack's ids are opaque, so only their characters are checked. None can contain "#" or ":". */
export const SLACK_ID = '[A-Z0-9]{2,32}'
const slackId = new RegExp(`^${SLACK_ID}$`)

export function isSlackId(text: string): boolean {
  return slackId.test(text)
}

export const APP_NAME = /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/

export function isAppName(text: string): boolean {
  return APP_NAME.test(text)
}

/** Ids as payloads name them. */
import type { SlackIds } from '../existence/verdict.ts'
import { PayloadRefused } from './refusal.ts'

const SLACK_ID = /^[A-Z0-9]{2,32}$/
/** A payload names few teams beside its own; each costs a call. */
const MOST_OTHER_TEAMS = 4

/** An id, or undefined where Slack leaves it out. */
export function idAt(value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value !== 'string' || !SLACK_ID.test(value)) throw new PayloadRefused('bad_id')
  return value
}

/**
 * The id that stands in several places. Which of them a handler reads nobody knows, so where they
 * differ there is no telling what would have to be checked.
 */
export function sameId(...values: readonly unknown[]): string | undefined {
  let same: string | undefined
  for (const value of values) {
    const id = idAt(value)
    if (id === undefined) continue
    if (same !== undefined && id !== same) throw new PayloadRefused('ambiguous_payload')
    same = id
  }
  return same
}

/** The ids of a payload, without those that it does not name. */
export function slackIds(found: {
  team: string | undefined
  enterprise: string | undefined
  user?: string | undefined
  bot?: string | undefined
  channel?: string | undefined
  /** All teams that the payload names. */
  teams: readonly unknown[]
}): SlackIds {
  const { team = found.enterprise, enterprise, user, bot, channel } = found
  if (team === undefined) throw new PayloadRefused('missing_id')
  const ids: SlackIds = { team }
  if (enterprise !== undefined) ids.enterprise = enterprise
  if (user !== undefined) ids.user = user
  if (bot !== undefined) ids.bot = bot
  if (channel !== undefined) ids.channel = channel
  const others: string[] = []
  for (const value of found.teams) {
    const id = idAt(value)
    if (id === undefined || id === team || id === enterprise || others.includes(id)) continue
    others.push(id)
  }
  if (others.length > MOST_OTHER_TEAMS) throw new PayloadRefused('ambiguous_payload')
  if (others.length > 0) ids.otherTeams = others
  return ids
}

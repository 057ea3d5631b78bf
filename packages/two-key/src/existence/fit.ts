/** Whether entities that exist belong together. */
import type { Facts } from './entities.ts'
import type { SlackIds } from './verdict.ts'

export interface Found {
  /** What Slack says of the token. */
  binding: Facts
  user: Facts | undefined
  channel: Facts | undefined
}

export function fits(ids: SlackIds, { binding, user, channel }: Found): boolean {
  return userFits(ids, binding, user, channel) && channelFits(ids, binding, channel)
}

function userFits(
  { team }: SlackIds,
  { enterprise }: Facts,
  user: Facts | undefined,
  channel: Facts | undefined,
): boolean {
  if (!user) return true
  if (user.team === team || user.teams?.includes(team) === true) return true
  if (enterprise !== undefined && [user.enterprise, user.team].includes(enterprise)) return true
  // Of another workspace: through a channel that is shared with it, or known from such a one.
  return channel ? channel.isShared === true : user.isStranger !== true
}

function channelFits(ids: SlackIds, binding: Facts, channel: Facts | undefined): boolean {
  if (!channel) return true
  const { team, user } = ids
  const teams = channel.teams ?? []
  // The bot of an organisation is in the channels of all its workspaces.
  if (teams.length > 0 && !teams.includes(team) && binding.isOrgWide !== true) return false
  // A direct message has two sides: the peer, and the bot itself.
  if (channel.user === undefined || user === undefined) return true
  return user === channel.user || user === binding.user
}

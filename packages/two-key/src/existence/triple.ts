/** Team, person and channel of a request that has all three: what an entry of the cache vouches for. */
import type { SlackIds as TripleIds } from '../keys.ts'
import type { SlackIds } from './verdict.ts'

export interface RequestTriple {
  key: string
  /** As the table has it. Of a bot undefined: there it could not be told from a user of that id. */
  ids: TripleIds | undefined
  /** The request names nothing that the triple does not have. */
  isWhole: boolean
}

export function tripleOf(ids: SlackIds): RequestTriple | undefined {
  const { team, channel, user, bot, otherTeams, enterprise } = ids
  const person = user ?? (bot === undefined ? undefined : `bot:${bot}`)
  if (person === undefined || channel === undefined) return undefined
  return {
    key: `${team}#${person}#${channel}`,
    ids: user === undefined ? undefined : { team, user, channel },
    isWhole:
      // Whether the team is of that organisation, its token says.
      enterprise === undefined &&
      (user === undefined || bot === undefined) &&
      (otherTeams === undefined || otherTeams.length === 0),
  }
}

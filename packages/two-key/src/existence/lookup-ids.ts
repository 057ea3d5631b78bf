/** Looks up all ids of a request in parallel, after the token has proved which team it belongs to. */
import { createHash } from 'node:crypto'
import type { Deadline } from '@strongroom/kit/deadline'
import { LRUCache } from 'lru-cache'
import type { StartDeadline } from '../deadlines.ts'
import type { SlackIds } from '../slack-ids.ts'
import type { LookupResults } from './decide.ts'
import type { KnownIds } from './known-ids.ts'
import type { ChannelPolicy } from './result.ts'
import type { Lookup, LookupResult, SlackLookup } from './slack-lookup.ts'
import type { EntityKind } from './slack-responses.ts'

export interface LookupOptions {
  deadline: Deadline
  channelPolicy: ChannelPolicy
  /** The triple is in the cache, so neither its user nor its channel is looked up. */
  isTripleVerified?: boolean
  /** Entities that were verified before this time are looked up again. */
  verifiedSince?: number
}

export interface IdLookup {
  lookupIds(ids: SlackIds, token: string, options: LookupOptions): Promise<LookupResults>
  /** Whether an id is cached as absent, so that the table need not be read. */
  isKnownAbsent(ids: SlackIds, token: string, channelPolicy: ChannelPolicy): boolean
  /** Asks Slack whether a token works. Uses the shared budget, because anyone may cause it. */
  probeToken(token: string, deadline: Deadline): Promise<LookupResult>
}

/** Known ids only decide which half of the budget is used, so Slack keeps half of the time. */
const KNOWN_IDS_TIMEOUT_MS = 1000
const MAX_TOKENS = 10_000

export function createIdLookup(deps: {
  lookup: SlackLookup
  known: KnownIds
  startDeadline: StartDeadline
}): IdLookup {
  const { lookup, known, startDeadline } = deps
  /** The digest of a token costs more than the rest of a cached decision. */
  const tokenLookups = new LRUCache<string, Lookup>({ max: MAX_TOKENS })

  /**
   * The owner of a token does not depend on the team that a request names: where one token serves all
   * requests, invented teams cost neither calls nor memory.
   */
  function tokenLookup(token: string): Lookup {
    let found = tokenLookups.get(token)
    if (!found) {
      const id = createHash('sha256').update(token).digest('base64url')
      found = { team: id, kind: 'token', id, token }
      tokenLookups.set(token, found)
    }
    return found
  }

  function getFresh(
    wanted: Lookup,
    { verifiedSince = -Infinity }: LookupOptions,
  ): LookupResult | undefined {
    const cached = lookup.getCached(wanted)
    return cached?.state === 'exists' && cached.verifiedAt < verifiedSince ? undefined : cached
  }

  async function lookupEntity(wanted: Lookup, options: LookupOptions): Promise<LookupResult> {
    const cached = getFresh(wanted, options)
    if (cached) return cached
    const name = knownName(wanted)
    const isKnown = known.has(wanted.team, name)
    const result = await lookup.lookUp(wanted, { deadline: options.deadline, isKnown })
    if (result.state === 'exists' && result.fromSlack) known.add(wanted.team, name)
    return result
  }

  /** A token of another team proves nothing about this one. */
  async function lookupToken(
    { team, enterprise }: SlackIds,
    token: string,
    options: LookupOptions,
  ): Promise<LookupResult> {
    const wanted = tokenLookup(token)
    const { deadline } = options
    const result =
      getFresh(wanted, options) ?? (await lookup.lookUp(wanted, { deadline, isKnown: true }))
    if (result.state !== 'exists') return result
    const { facts } = result
    const isOrgWide = facts.isOrgWide === true && facts.enterprise !== undefined
    const isOfEnterprise = enterprise === undefined || facts.enterprise === enterprise
    return (facts.team === team || isOrgWide) && isOfEnterprise ? result : { state: 'absent' }
  }

  async function waitForKnownIds(team: string, deadline: Deadline): Promise<void> {
    const loading = known.load(team)
    if (!loading) return
    const limit = startDeadline({ ms: Math.min(KNOWN_IDS_TIMEOUT_MS, deadline.remainingMs()) })
    await limit.settle(loading)
    limit.stop()
  }

  return {
    async lookupIds(ids, token, options) {
      const { team, user, bot, channel, otherTeams = [] } = ids
      const owner = await lookupToken(ids, token, options)
      if (owner.state !== 'exists') return { token: owner, teams: [] }
      const { enterprise, isOrgWide } = owner.facts
      const workspace = isOrgWide === true && enterprise !== team ? team : undefined
      // One budget for the organisation: a request may name any of its workspaces.
      const budgetTeam = workspace === undefined ? team : (enterprise ?? team)
      await waitForKnownIds(budgetTeam, options.deadline)
      const lookUp = async (kind: EntityKind, id: string) =>
        lookupEntity({ team: budgetTeam, kind, id, token, workspace }, options)
      const lookUpIf = async (isWanted: boolean, kind: EntityKind, id: string | undefined) =>
        isWanted && id !== undefined ? lookUp(kind, id) : undefined
      const isTripleVerified = options.isTripleVerified === true
      const hasChannel = !isTripleVerified && options.channelPolicy !== 'skip'
      const [ownTeam, others, foundUser, foundBot, foundChannel] = await Promise.all([
        workspace === undefined ? undefined : lookUp('team', workspace).then(within(enterprise)),
        Promise.all(
          otherTeams.filter((each) => each !== team).map(async (each) => lookUp('team', each)),
        ),
        lookUpIf(!isTripleVerified, 'user', user),
        // The triple of a request with a user and a bot is that of the user.
        lookUpIf(!isTripleVerified || user !== undefined, 'bot', bot),
        lookUpIf(hasChannel, 'channel', channel),
      ])
      return {
        token: owner,
        teams: ownTeam ? [ownTeam, ...others] : others,
        user: foundUser,
        bot: foundBot,
        channel: foundChannel,
      }
    },

    isKnownAbsent({ team, user, channel }, token, channelPolicy) {
      const isAbsent = (kind: EntityKind, id: string | undefined) =>
        id !== undefined && lookup.getCached({ team, kind, id, token })?.state === 'absent'
      return isAbsent('user', user) || (channelPolicy === 'strict' && isAbsent('channel', channel))
    },

    probeToken: async (token, deadline) =>
      lookup.lookUp(tokenLookup(token), { deadline, isKnown: false }),
  }
}

/** A workspace must belong to the organisation whose token is used. */
function within(enterprise: string | undefined) {
  return (result: LookupResult): LookupResult =>
    result.state === 'exists' && result.facts.enterprise !== enterprise
      ? { state: 'absent' }
      : result
}

/** An id that is known as one kind of entity, or in one workspace, is not known as another. */
function knownName({ kind, id, workspace }: Lookup): string {
  return workspace === undefined ? `${kind}:${id}` : `${kind}:${workspace}/${id}`
}

/** The names of a triple's ids among the known ids. */
export function knownNamesOf({ user, bot, channel }: SlackIds): string[] {
  const parts = { user, bot, channel }
  return Object.entries(parts).flatMap(([kind, id]) => (id === undefined ? [] : [`${kind}:${id}`]))
}

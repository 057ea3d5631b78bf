/** Which ids were verified in the last day, here or on another machine. */
import { type Clock, epochSeconds } from '@strongroom/kit/clock'
import { keep } from './knowledge.ts'
import { KNOWN_SECONDS, type KnownStore, type KnownTimes } from './known-store.ts'

/** The time of an id is saved again only when it is so much older: most minutes save nothing. */
const RESAVE_SECONDS = 3_600

export interface KnownIds {
  /** Reads what is stored about a team, once; undefined if that is done. */
  loading(team: string): Promise<void> | undefined
  has(team: string, id: string): boolean
  /** The id has been verified now. */
  add(team: string, id: string): void
  /** Saves what is new and learns what others have saved. Throws if the store fails for a team. */
  exchange(): Promise<void>
}

interface TeamIds {
  times: Map<string, number>
  /** When each id was saved, or is to be. */
  saved: Map<string, number>
  loaded: boolean
  loading: Promise<void> | undefined
}

export function createKnownIds({
  clock,
  store,
  onFailed,
}: {
  clock: Clock
  /** Without one they are known to this process alone. */
  store: KnownStore | undefined
  onFailed: (error: unknown) => void
}): KnownIds {
  const teams = new Map<string, TeamIds>()

  function of(team: string): TeamIds {
    let found = teams.get(team)
    if (!found) {
      found = { times: new Map(), saved: new Map(), loaded: !store, loading: undefined }
      teams.set(team, found)
    }
    return found
  }

  function learn({ times, saved }: TeamIds, stored: KnownTimes): void {
    for (const [id, time] of stored) {
      saved.set(id, Math.max(time, saved.get(id) ?? 0))
      times.set(id, Math.max(time, times.get(id) ?? 0))
    }
  }

  async function load(team: string, ids: TeamIds): Promise<void> {
    if (!store) return
    try {
      learn(ids, await store.load(team))
      ids.loaded = true
    } catch (error) {
      onFailed(error)
    } finally {
      ids.loading = undefined
    }
  }

  function unsaved({ times, saved }: TeamIds): KnownTimes {
    return new Map([...times].filter(([id, time]) => time >= (saved.get(id) ?? 0) + RESAVE_SECONDS))
  }

  function dropOld({ times, saved }: TeamIds, now: number): void {
    for (const map of [times, saved]) {
      for (const [id, time] of map) if (time <= now - KNOWN_SECONDS) map.delete(id)
    }
  }

  async function exchangeTeam(kept: KnownStore, team: string, ids: TeamIds): Promise<void> {
    const now = epochSeconds(clock)
    dropOld(ids, now)
    const news = unsaved(ids)
    if (news.size > 0) {
      await kept.save(team, news, now)
      for (const [id, time] of news) ids.saved.set(id, time)
    }
    learn(ids, await kept.load(team))
    ids.loaded = true
  }

  return {
    loading(team) {
      const ids = of(team)
      if (ids.loaded) return undefined
      ids.loading ??= load(team, ids)
      return ids.loading
    },

    has(team, id) {
      const time = teams.get(team)?.times.get(id)
      return time !== undefined && time > epochSeconds(clock) - KNOWN_SECONDS
    },

    add: (team, id) => keep(of(team).times, id, epochSeconds(clock)),

    async exchange() {
      if (!store) return
      const failures: unknown[] = []
      for (const [team, ids] of teams) {
        await exchangeTeam(store, team, ids).catch((error: unknown) => failures.push(error))
      }
      if (failures.length > 0) throw failures[0]
    },
  }
}

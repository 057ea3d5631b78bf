/** The ids that were verified in the last day, on this machine or another. */
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import { KNOWN_SECONDS, type KnownIdStore, type KnownTimes } from './known-id-store.ts'

/** An id is saved again when its saved time is this much older, so that most minutes save nothing. */
const RESAVE_SECONDS = 3_600
const MAX_IDS_PER_TEAM = 50_000

export interface KnownIds {
  /** Reads a team's stored ids once; undefined when that is done. */
  load(team: string): Promise<void> | undefined
  has(team: string, id: string): boolean
  /** Records that the id was verified now. */
  add(team: string, id: string): void
  /** Saves new ids and loads those of other machines. Throws if the store fails for a team. */
  sync(): Promise<void>
}

interface TeamIds {
  /** When each id was last verified, the most recent one last. */
  times: Map<string, number>
  /** The time of each id in the store. */
  saved: Map<string, number>
  isLoaded: boolean
  loading: Promise<void> | undefined
}

export function createKnownIds({
  clock,
  store,
  onFailed,
}: {
  clock: Clock
  /** Without one, ids are known to this process only. */
  store: KnownIdStore | undefined
  onFailed: (error: unknown) => void
}): KnownIds {
  const teams = new Map<string, TeamIds>()

  function idsOf(team: string): TeamIds {
    let ids = teams.get(team)
    if (!ids) {
      ids = { times: new Map(), saved: new Map(), isLoaded: !store, loading: undefined }
      teams.set(team, ids)
    }
    return ids
  }

  function addStored({ times, saved }: TeamIds, stored: KnownTimes): void {
    for (const [id, time] of stored) {
      saved.set(id, Math.max(time, saved.get(id) ?? 0))
      times.set(id, Math.max(time, times.get(id) ?? 0))
    }
  }

  async function loadTeam(team: string, ids: TeamIds): Promise<void> {
    if (!store) return
    try {
      addStored(ids, await store.load(team))
      ids.isLoaded = true
    } catch (error) {
      onFailed(error)
    } finally {
      ids.loading = undefined
    }
  }

  function unsaved({ times, saved }: TeamIds): KnownTimes {
    return new Map([...times].filter(([id, time]) => time >= (saved.get(id) ?? 0) + RESAVE_SECONDS))
  }

  function deleteOld({ times, saved }: TeamIds, now: number): void {
    for (const map of [times, saved]) {
      for (const [id, time] of map) if (time <= now - KNOWN_SECONDS) map.delete(id)
    }
  }

  async function syncTeam(to: KnownIdStore, team: string, ids: TeamIds): Promise<void> {
    const now = epochSeconds(clock)
    deleteOld(ids, now)
    const changes = unsaved(ids)
    if (changes.size > 0) {
      await to.save(team, changes, now)
      for (const [id, time] of changes) ids.saved.set(id, time)
    }
    addStored(ids, await to.load(team))
    ids.isLoaded = true
  }

  return {
    load(team) {
      const ids = idsOf(team)
      if (ids.isLoaded) return undefined
      ids.loading ??= loadTeam(team, ids)
      return ids.loading
    },

    has(team, id) {
      const time = teams.get(team)?.times.get(id)
      return time !== undefined && time > epochSeconds(clock) - KNOWN_SECONDS
    },

    add(team, id) {
      const { times } = idsOf(team)
      times.delete(id)
      times.set(id, epochSeconds(clock))
      if (times.size <= MAX_IDS_PER_TEAM) return
      const [oldest] = times.keys()
      if (oldest !== undefined) times.delete(oldest)
    },

    async sync() {
      if (!store) return
      const failures: unknown[] = []
      for (const [team, ids] of teams) {
        await syncTeam(store, team, ids).catch((error: unknown) => failures.push(error))
      }
      if (failures.length > 0) throw failures[0]
    },
  }
}

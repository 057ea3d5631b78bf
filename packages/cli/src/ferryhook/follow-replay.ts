/** Looks at a replay of many events until it has ended. */
import { ApiError } from '@strongroom/kit/errors'
import type { Ask } from '../service-api.ts'
import type { Replay } from './views.ts'

/** Most replays are short; the others must not use up what the key may ask for. */
const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 2_000

export async function followReplay(
  ask: Ask,
  begun: Replay,
  options: {
    /** Cancels the replay. */
    signal: AbortSignal
    /** Resolves after the time, or when the signal fires. */
    pause(ms: number): Promise<void>
    onProgress(replay: Replay): void
  },
): Promise<Replay> {
  const path = `/replays/${begun.id}`
  let replay = begun
  for (let pauseMs = FIRST_PAUSE_MS; replay.state === 'running'; pauseMs *= 2) {
    await options.pause(Math.min(pauseMs, LONGEST_PAUSE_MS))
    if (options.signal.aborted) return cancelled(ask, path)
    replay = await ask<Replay>('GET', path).catch(unlessTooMany(replay))
    if (replay.state === 'running') options.onProgress(replay)
  }
  return replay
}

async function cancelled(ask: Ask, path: string): Promise<Replay> {
  return ask<Replay>('DELETE', path).catch(async (error: unknown) => {
    // It came to its end a moment before.
    if (error instanceof ApiError && error.code === 'ferryhook.replay_ended') {
      return ask<Replay>('GET', path)
    }
    throw error
  })
}

/** The replay goes on whether or not it can be looked at just now. */
function unlessTooMany(last: Replay) {
  return (error: unknown): Replay => {
    if (error instanceof ApiError && error.status === 429) return last
    throw error
  }
}

/** Follows a replay job until it ends. */
import { ApiError } from '@strongroom/kit/errors'
import type { ApiClient } from '../api-client.ts'
import type { Replay } from './views.ts'

/** Most replays are short; long ones must not use up the rate limit of the key. */
const FIRST_PAUSE_MS = 200
const MAX_PAUSE_MS = 2_000

export async function followReplay(
  api: ApiClient,
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
    await options.pause(Math.min(pauseMs, MAX_PAUSE_MS))
    if (options.signal.aborted) return cancelReplay(api, path)
    replay = await api<Replay>('GET', path).catch(unlessRateLimited(replay))
    if (replay.state === 'running') options.onProgress(replay)
  }
  return replay
}

async function cancelReplay(api: ApiClient, path: string): Promise<Replay> {
  return api<Replay>('DELETE', path).catch(async (error: unknown) => {
    // It ended a moment before.
    if (error instanceof ApiError && error.code === 'ferryhook.replay_ended') {
      return api<Replay>('GET', path)
    }
    throw error
  })
}

/** The replay continues even if its state cannot be read now. */
function unlessRateLimited(last: Replay) {
  return (error: unknown): Replay => {
    if (error instanceof ApiError && error.status === 429) return last
    throw error
  }
}

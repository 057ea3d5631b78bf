import type { ReplayView } from '@strongroom/ferryhook/replays/view'
import type { z } from 'zod'
import { request } from '../../api/request.ts'

export type Replay = z.infer<typeof ReplayView>

export async function listReplays(signal: AbortSignal): Promise<Replay[]> {
  const { items } = await request<{ items: Replay[] }>('GET', '/ferryhook/v1/replays', { signal })
  return items
}

export function getReplay(id: string, signal: AbortSignal): Promise<Replay> {
  return request('GET', `/ferryhook/v1/replays/${encodeURIComponent(id)}`, { signal })
}

export function cancelReplay(id: string): Promise<Replay> {
  return request('DELETE', `/ferryhook/v1/replays/${encodeURIComponent(id)}`)
}

/** Reads a job again soon while it runs. */
export const RUNNING_REFRESH_MS = 1_500

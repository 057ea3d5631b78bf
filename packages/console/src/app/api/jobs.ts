/** Jobs of the server: starting, following and cancelling them. */
import type { JobView } from '@strongroom/kit/jobs/view'
import type { z } from 'zod'
import { request, send } from './request.ts'

export type Job = z.infer<typeof JobView>

const JOBS = '/server/v1/jobs'

export function listJobs(
  query: { limit?: number; cursor?: string } = {},
  signal?: AbortSignal,
): Promise<{ items: Job[]; cursor: string | null }> {
  return request('GET', JOBS, { as: 'operator', query, ...(signal && { signal }) })
}

export function getJob(id: string, signal: AbortSignal): Promise<Job> {
  return request('GET', `${JOBS}/${encodeURIComponent(id)}`, { as: 'operator', signal })
}

export function startJob(kind: string, input: object): Promise<Job> {
  return request('POST', JOBS, { as: 'operator', json: { kind, input } })
}

export function cancelJob(id: string): Promise<Job> {
  return request('POST', `${JOBS}/${encodeURIComponent(id)}/cancel`, { as: 'operator' })
}

/** Saves the file of a job. */
export async function downloadJobFile({ id, file }: Job): Promise<void> {
  const response = await send('GET', `${JOBS}/${encodeURIComponent(id)}/file`, { as: 'operator' })
  const url = URL.createObjectURL(await response.blob())
  const link = document.createElement('a')
  link.href = url
  link.download = file?.name ?? 'file'
  link.click()
  URL.revokeObjectURL(url)
}

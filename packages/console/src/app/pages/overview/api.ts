import type { OverviewView, UsageView } from '@strongroom/ferryhook/usage/view'
import type { z } from 'zod'
import { request } from '../../api/request.ts'

export type Overview = z.infer<typeof OverviewView>
export type Usage = z.infer<typeof UsageView>

export const periods = ['24h', '7d', '30d'] as const
export type Period = (typeof periods)[number]

export function getOverview(
  query: { period: Period; sourceId: string | undefined },
  signal: AbortSignal,
): Promise<Overview> {
  return request('GET', '/ferryhook/v1/analytics/overview', { query, signal })
}

export function getUsage(signal: AbortSignal): Promise<Usage> {
  return request('GET', '/ferryhook/v1/usage', { signal })
}

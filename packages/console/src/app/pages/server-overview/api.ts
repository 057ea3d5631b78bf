/** The state of the server and its figures, for the overview of operators. */
import type { FiguresView } from '@strongroom/server/figures/routes'
import type { ServerStatusView } from '@strongroom/server/status/routes'
import { request } from '../../api/request.ts'

export type ServerStatus = ServerStatusView
export type Figures = FiguresView
export type ServiceFigures = FiguresView['all']

export const periods = ['1h', '6h', '24h'] as const
export type Period = (typeof periods)[number]

export function toPeriod(text: string | undefined): Period {
  return periods.find((period) => period === text) ?? '6h'
}

export function fetchStatus(signal: AbortSignal): Promise<ServerStatus> {
  return request('GET', '/server/v1/status', { as: 'operator', signal })
}

export function fetchFigures(period: Period, signal: AbortSignal): Promise<Figures> {
  return request('GET', '/server/v1/figures', { as: 'operator', query: { period }, signal })
}

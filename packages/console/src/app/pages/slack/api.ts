/** Slack apps, their workspaces and what Two-key decided. */
import type {
  AppView,
  DecisionCountsView,
  DecisionView,
  TokenView,
} from '@strongroom/two-key/apps/view'
import type { z } from 'zod'
import { request } from '../../api/request.ts'

export type SlackApp = z.infer<typeof AppView>
export type Decision = z.infer<typeof DecisionView>
export type Workspace = z.infer<typeof TokenView>
export type DecisionCounts = z.infer<typeof DecisionCountsView>
export type Outcome = Decision['outcome']

const APPS = '/two-key/v1/apps'
const at = (app: string, rest = '') => `${APPS}/${encodeURIComponent(app)}${rest}`
const as = 'operator'

export async function listApps(signal: AbortSignal): Promise<SlackApp[]> {
  return (await request<{ items: SlackApp[] }>('GET', APPS, { as, signal })).items
}

export async function listWorkspaces(app: string, signal: AbortSignal): Promise<Workspace[]> {
  return (await request<{ items: Workspace[] }>('GET', at(app, '/tokens'), { as, signal })).items
}

export async function listDecisions(
  app: string,
  outcome: Outcome | undefined,
  signal: AbortSignal,
): Promise<Decision[]> {
  const query = { limit: 200, outcome }
  const path = at(app, '/decisions')
  return (await request<{ items: Decision[] }>('GET', path, { as, query, signal })).items
}

export async function countDecisions(app: string, signal: AbortSignal): Promise<DecisionCounts[]> {
  const path = at(app, '/decision-counts')
  const query = { minutes: 180 }
  return (await request<{ items: DecisionCounts[] }>('GET', path, { as, query, signal })).items
}

export const addApp = (json: {
  name: string
  appId?: string
  signingSecret: string
  upstream: { url: string; kind: 'app' | 'ferryhook' }
}): Promise<SlackApp> => request('POST', APPS, { as, json })

export const changeApp = (
  app: string,
  json: { appId: string | null; upstream: SlackApp['upstream'] },
): Promise<SlackApp> => request('PATCH', at(app), { as, json })

export const setInstallation = (
  app: string,
  installation: { clientId: string; clientSecret?: string; scopes: string[] } | null,
): Promise<SlackApp> => request('PATCH', at(app), { as, json: { installation } })

export const rotateSecret = (
  app: string,
  json: { signingSecret: string; overlapSeconds: number },
): Promise<SlackApp> => request('POST', at(app, '/signing-secrets'), { as, json })

export const deleteApp = (app: string): Promise<void> => request('DELETE', at(app), { as })

export const setToken = (
  app: string,
  team: string,
  token: string,
): Promise<{ missingScopes: string[] }> =>
  request('PUT', at(app, `/tokens/${encodeURIComponent(team)}`), { as, json: { token } })

export const deleteToken = (app: string, team: string): Promise<void> =>
  request('DELETE', at(app, `/tokens/${encodeURIComponent(team)}`), { as })

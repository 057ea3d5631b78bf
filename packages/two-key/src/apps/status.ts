/** What operators should know about Two-key: as far as the decisions of this process show it. */
import type { Problem, ServiceStatus } from '@strongroom/kit/service-status'
import type { AppRegistry } from './registry.ts'
import type { RecordedDecision } from './recent-decisions.ts'
import type { AppService } from './service.ts'

const MAX_DECISIONS = 200

export function createTwoKeyStatus({
  registry,
  apps,
}: {
  registry: Pick<AppRegistry, 'decisions'>
  apps: Pick<AppService, 'list'>
}): () => Promise<ServiceStatus> {
  return async () => {
    const known = await apps.list()
    const names = new Set(known.map(({ SK }) => SK))
    const problems: Problem[] = []
    for (const [app, decisions] of registry.decisions()) {
      if (!names.has(app)) continue
      for (const { team, since } of rejectedTokens(decisions.list({ limit: MAX_DECISIONS }))) {
        problems.push({
          severity: 'bad',
          title: `Slack refuses the token of ${app}`,
          explanation: `Requests of workspace ${team} cannot be verified (token_rejected) until the token is replaced or has its scopes.`,
          since,
          page: `/server/slack/${app}?outcome=refused`,
          command: `strongroom slack token set ${app} ${team}`,
        })
      }
    }
    const number = `${known.length} ${known.length === 1 ? 'app' : 'apps'}`
    const failing = new Set(problems.map(({ title }) => title)).size
    return { note: failing > 0 ? `${failing} of ${number} cannot verify` : number, problems }
  }
}

/** Workspaces whose last decisions were that Slack refused the token, and since when. */
function rejectedTokens(
  newestFirst: readonly RecordedDecision[],
): { team: string; since: number }[] {
  const rejected = new Map<string, number>()
  const ended = new Set<string>()
  for (const { at, reason, ids } of newestFirst) {
    if (ids === undefined || ended.has(ids.team)) continue
    if (reason === 'credential') rejected.set(ids.team, at)
    else ended.add(ids.team)
  }
  return Array.from(rejected, ([team, since]) => ({ team, since }))
}

/** What operators should know about Two-key: as far as the decisions of this process show it. */
import type { Problem, ServiceStatus } from '@strongroom/kit/service-status'
import { needsOperator } from '../decision.ts'
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
      for (const { team, since, scopes } of rejectedTokens(
        decisions.list({ limit: MAX_DECISIONS }),
      )) {
        problems.push({
          severity: 'bad',
          title:
            scopes.length > 0
              ? `The token of ${app} lacks a scope`
              : `Slack refuses the token of ${app}`,
          explanation:
            scopes.length > 0
              ? `Some requests of workspace ${team} cannot be verified (missing_scope) until the app is reinstalled with ${scopes.join(', ')}.`
              : `Requests of workspace ${team} cannot be verified (token_rejected) until the token is replaced.`,
          since,
          page: `/server/slack/${app}?outcome=undecidable`,
          command: `strongroom slack token set ${app} ${team}`,
        })
      }
    }
    const number = `${known.length} ${known.length === 1 ? 'app' : 'apps'}`
    const failing = new Set(problems.map(({ title }) => title)).size
    return { note: failing > 0 ? `${failing} of ${number} cannot verify` : number, problems }
  }
}

interface RejectedToken {
  team: string
  since: number
  /** That the last rejection named. */
  scopes: readonly string[]
}

/** Workspaces whose last decisions were that Slack refused the token, and since when. */
function rejectedTokens(newestFirst: readonly RecordedDecision[]): RejectedToken[] {
  const rejected = new Map<string, RejectedToken>()
  const ended = new Set<string>()
  for (const { at, code, ids, missingScopes } of newestFirst) {
    if (ids === undefined || ended.has(ids.team)) continue
    const { team } = ids
    if (needsOperator({ code })) {
      const found = rejected.get(team)
      rejected.set(team, { team, since: at, scopes: found?.scopes ?? missingScopes ?? [] })
    } else ended.add(team)
  }
  return [...rejected.values()]
}

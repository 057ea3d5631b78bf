/** `/v1/apps/{app}/tokens` of Two-key, for operators: the bot token of each workspace. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse } from '@strongroom/kit/http/openapi'
import { operatorError } from '@strongroom/kit/operators'
import { twoKeyError } from '../errors.ts'
import { listTokens } from '../tokens/list-tokens.ts'
import { checkToken } from '../tokens/token-check.ts'
import type { OperatorDeps } from './operator-deps.ts'
import { AppName, BotToken, isoTime, TeamId, TokenView } from './schemas.ts'

const problems = {
  rejected: 'token_rejected',
  other_team: 'token_of_other_team',
  slack_unavailable: 'slack_unavailable',
} as const

export function tokenRoutes(deps: OperatorDeps): OpenAPIHono<AppEnv> {
  const { db, runtime, forOperators, slackApi } = deps
  const denied = errorResponses(operatorError, 'unauthorized')
  const ofTeam = z.object({ app: AppName, team: TeamId })

  async function appOf(name: string) {
    const app = await runtime.get(name)
    if (!app) throw twoKeyError('app_not_found')
    return app
  }

  const list = createRoute({
    ...forOperators,
    method: 'get',
    path: '/v1/apps/{app}/tokens',
    summary: 'List the workspaces that a token is kept of',
    request: { params: z.object({ app: AppName }) },
    responses: {
      200: jsonResponse(z.object({ items: z.array(TokenView) }), 'Never the tokens themselves'),
      ...denied,
      ...errorResponses(twoKeyError, 'app_not_found'),
    },
  })
  const put = createRoute({
    ...forOperators,
    method: 'put',
    path: '/v1/apps/{app}/tokens/{team}',
    summary: 'Keep the bot token of a workspace',
    description:
      'Slack is asked whose token it is first. An organisation stands for its workspaces.',
    request: { params: ofTeam, body: jsonBody(z.strictObject({ token: BotToken })) },
    responses: {
      200: jsonResponse(
        z.object({
          team: TeamId,
          missingScopes: z.array(z.string()).openapi({
            description: 'Without these, requests from some conversations cannot be verified',
            example: ['groups:read', 'im:read'],
          }),
        }),
        'The token is kept, sealed',
      ),
      ...denied,
      ...errorResponses(
        twoKeyError,
        'app_not_found',
        'token_rejected',
        'token_of_other_team',
        'slack_unavailable',
      ),
    },
  })
  const remove = createRoute({
    ...forOperators,
    method: 'delete',
    path: '/v1/apps/{app}/tokens/{team}',
    summary: 'Forget the bot token of a workspace',
    description:
      'From then on its requests are refused; other processes follow within five minutes.',
    request: { params: ofTeam },
    responses: {
      204: { description: 'It is gone' },
      ...denied,
      ...errorResponses(twoKeyError, 'app_not_found', 'token_not_found'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(list, async (c) => {
      const { item } = await appOf(c.req.valid('param').app)
      const found = await listTokens(db, item.isFirst ? undefined : item.SK)
      const items = found.map(({ team, installedAt }) => ({
        team,
        installedAt: isoTime(installedAt),
      }))
      return c.json({ items }, 200)
    })
    .openapi(put, async (c) => {
      const { app, team } = c.req.valid('param')
      const { token } = c.req.valid('json')
      const { vault } = await appOf(app)
      const check = await checkToken(slackApi, token, team)
      if (!check.ok) throw twoKeyError(problems[check.problem])
      await vault.put(team, token)
      c.get('log').info('Bot token kept', { app, operator: c.get('operator') })
      return c.json({ team, missingScopes: [...check.missingScopes] }, 200)
    })
    .openapi(remove, async (c) => {
      const { app, team } = c.req.valid('param')
      const { store, leaveTeam } = await appOf(app)
      if (!(await store.tokens.get(team))) throw twoKeyError('token_not_found')
      await leaveTeam(team)
      c.get('log').info('Bot token removed', { app, operator: c.get('operator') })
      return c.body(null, 204)
    })
}

/** `/v1/apps/{app}/tokens`, for operators: the bot token of each workspace. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse } from '@strongroom/kit/http/openapi'
import { operatorErrors, type OperatorPermissions } from '@strongroom/kit/http/permissions'
import type { AppRegistry } from '../apps/registry.ts'
import type { AuditedChanges } from '../apps/audited.ts'
import { AppName, BotToken, isoTime, TeamId, TokenView } from '../apps/view.ts'
import { twoKeyError } from '../errors.ts'
import type { SlackApi } from '../existence/slack-api.ts'
import { verifyToken } from './service.ts'

export function tokenRoutes(deps: {
  registry: Pick<AppRegistry, 'get'>
  slackApi: SlackApi
  audited: AuditedChanges
  permit: OperatorPermissions
}): OpenAPIHono<AppEnv> {
  const { registry, audited, slackApi, permit } = deps
  const TeamParams = z.object({ app: AppName, team: TeamId })

  async function requireApp(name: string) {
    const app = await registry.get(name)
    if (!app) throw twoKeyError('app_not_found')
    return app
  }

  const list = createRoute({
    ...permit.viewer,
    method: 'get',
    path: '/v1/apps/{app}/tokens',
    summary: 'List workspaces with a stored bot token',
    request: { params: z.object({ app: AppName }) },
    responses: {
      200: jsonResponse(
        z.object({ items: z.array(TokenView) }),
        'The workspaces; tokens are never returned',
      ),
      ...operatorErrors,
      ...errorResponses(twoKeyError, 'app_not_found'),
    },
  })
  const put = createRoute({
    ...permit.editor,
    method: 'put',
    path: '/v1/apps/{app}/tokens/{team}',
    summary: "Set a workspace's bot token",
    description:
      'Slack first confirms which workspace the token belongs to. The token of an organisation is used for all of its workspaces.',
    request: { params: TeamParams, body: jsonBody(z.strictObject({ token: BotToken })) },
    responses: {
      200: jsonResponse(
        z.object({
          team: TeamId,
          missingScopes: z.array(z.string()).openapi({
            description:
              'Without these scopes, requests from some conversations cannot be verified',
            example: ['groups:read', 'im:read'],
          }),
        }),
        'The token is stored, encrypted',
      ),
      ...operatorErrors,
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
    ...permit.editor,
    method: 'delete',
    path: '/v1/apps/{app}/tokens/{team}',
    summary: "Delete a workspace's bot token",
    description:
      'Requests of the workspace are then rejected; by other processes within five minutes.',
    request: { params: TeamParams },
    responses: {
      204: { description: 'The token was deleted' },
      ...operatorErrors,
      ...errorResponses(twoKeyError, 'app_not_found', 'token_not_found'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(list, async (c) => {
      const { stores } = await requireApp(c.req.valid('param').app)
      const tokens = await stores.tokens.list()
      const items = tokens.map(({ team, installedAt }) => ({
        team,
        installedAt: isoTime(installedAt),
      }))
      return c.json({ items }, 200)
    })
    .openapi(put, async (c) => {
      const { app, team } = c.req.valid('param')
      const { token } = c.req.valid('json')
      const { tokens } = await requireApp(app)
      const missingScopes = await verifyToken(slackApi, token, team)
      await tokens.put(team, token, audited.tokenDb(c.get('actor'), 'set', app, team))
      c.get('log').info('bot token set', { app, operator: c.get('operator') })
      return c.json({ team, missingScopes }, 200)
    })
    .openapi(remove, async (c) => {
      const { app, team } = c.req.valid('param')
      const { stores, removeTeam } = await requireApp(app)
      if (!(await stores.tokens.get(team))) throw twoKeyError('token_not_found')
      await removeTeam(team, audited.tokenDb(c.get('actor'), 'deleted', app, team))
      c.get('log').info('bot token deleted', { app, operator: c.get('operator') })
      return c.body(null, 204)
    })
}

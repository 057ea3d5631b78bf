/** `/v1/apps` of Two-key, for operators: apps with their signing secrets, upstreams and policies. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse } from '@strongroom/kit/http/openapi'
import { operatorError } from '@strongroom/kit/operators'
import type { Context } from 'hono'
import { twoKeyError } from '../errors.ts'
import type { AppItem } from './app-item.ts'
import type { OperatorDeps } from './operator-deps.ts'
import {
  AppChange,
  AppName,
  AppView,
  DecisionView,
  NewApp,
  SigningSecret,
  viewApp,
} from './schemas.ts'

const DAY = 86_400

export function appRoutes(deps: OperatorDeps): OpenAPIHono<AppEnv> {
  const { apps, runtime, forOperators, publicUrl, checkUpstream, removeTokens } = deps
  const denied = errorResponses(operatorError, 'unauthorized')
  const missing = errorResponses(twoKeyError, 'app_not_found')
  const ofApp = z.object({ app: AppName })
  /** Never by the Host header, which is whatever the client wrote. */
  const view = async (c: Context, item: AppItem) => {
    const { path } = c.req
    const base = publicUrl + path.slice(0, path.indexOf('/v1/'))
    return viewApp(item, await apps.signingSecrets(item), base)
  }

  const add = createRoute({
    ...forOperators,
    method: 'post',
    path: '/v1/apps',
    summary: 'Add a Slack app',
    description: 'Then point Slack at its `url`, and give it the bot token of each workspace.',
    request: { body: jsonBody(NewApp) },
    responses: {
      201: jsonResponse(AppView, 'The app was added'),
      ...denied,
      ...errorResponses(twoKeyError, 'app_exists', 'invalid_upstream'),
    },
  })
  const list = createRoute({
    ...forOperators,
    method: 'get',
    path: '/v1/apps',
    summary: 'List the Slack apps',
    responses: {
      200: jsonResponse(z.object({ items: z.array(AppView) }), 'All apps, by name'),
      ...denied,
    },
  })
  const get = createRoute({
    ...forOperators,
    method: 'get',
    path: '/v1/apps/{app}',
    summary: 'Look at a Slack app',
    request: { params: ofApp },
    responses: { 200: jsonResponse(AppView, 'The app'), ...denied, ...missing },
  })
  const change = createRoute({
    ...forOperators,
    method: 'patch',
    path: '/v1/apps/{app}',
    summary: 'Change a Slack app',
    description: 'What is left out stays. Other processes see it within ten seconds.',
    request: { params: ofApp, body: jsonBody(AppChange) },
    responses: {
      200: jsonResponse(AppView, 'The app as it is now'),
      ...denied,
      ...missing,
      ...errorResponses(twoKeyError, 'invalid_upstream', 'changed_meanwhile'),
    },
  })
  const remove = createRoute({
    ...forOperators,
    method: 'delete',
    path: '/v1/apps/{app}',
    summary: 'Remove a Slack app with its tokens',
    request: { params: ofApp },
    responses: { 204: { description: 'It is gone' }, ...denied, ...missing },
  })
  const rotate = createRoute({
    ...forOperators,
    method: 'post',
    path: '/v1/apps/{app}/signing-secrets',
    summary: 'Give a Slack app a new signing secret',
    description:
      'Older ones are honoured for the overlap, in which the secret is changed at Slack.',
    request: {
      params: ofApp,
      body: jsonBody(
        z.strictObject({
          signingSecret: SigningSecret,
          overlapSeconds: z
            .number()
            .int()
            .min(0)
            .max(30 * DAY)
            .default(DAY),
        }),
      ),
    },
    responses: {
      201: jsonResponse(AppView, 'The app with its new secret'),
      ...denied,
      ...missing,
      ...errorResponses(twoKeyError, 'too_many_secrets', 'changed_meanwhile'),
    },
  })
  const decisions = createRoute({
    ...forOperators,
    method: 'get',
    path: '/v1/apps/{app}/decisions',
    summary: 'See the latest decisions',
    description: 'Of the process that answers, the newest first; they are kept in memory only.',
    request: {
      params: ofApp,
      query: z.object({ limit: z.coerce.number().int().min(1).max(200).default(50) }),
    },
    responses: {
      200: jsonResponse(z.object({ items: z.array(DecisionView) }), 'The decisions'),
      ...denied,
      ...missing,
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(add, async (c) => {
      const app = c.req.valid('json')
      checkUpstream(app.upstream.url)
      const item = await apps.add(app)
      runtime.changed(app.name)
      c.get('log').info('Slack app added', { app: app.name, operator: c.get('operator') })
      return c.json(await view(c, item), 201)
    })
    .openapi(list, async (c) => {
      const items = await Promise.all((await apps.list()).map(async (item) => view(c, item)))
      return c.json({ items }, 200)
    })
    .openapi(get, async (c) => {
      const item = await apps.get(c.req.valid('param').app)
      if (!item) throw twoKeyError('app_not_found')
      return c.json(await view(c, item), 200)
    })
    .openapi(change, async (c) => {
      const { app } = c.req.valid('param')
      const { upstream, ...rest } = c.req.valid('json')
      if (upstream) checkUpstream(upstream.url)
      const item = await apps.change(app, { upstream, ...rest })
      runtime.changed(app)
      c.get('log').info('Slack app changed', { app, operator: c.get('operator') })
      return c.json(await view(c, item), 200)
    })
    .openapi(remove, async (c) => {
      const { app } = c.req.valid('param')
      const item = await apps.get(app)
      if (!item) throw twoKeyError('app_not_found')
      await removeTokens(item)
      await apps.remove(app)
      runtime.removed(app)
      c.get('log').info('Slack app removed', { app, operator: c.get('operator') })
      return c.body(null, 204)
    })
    .openapi(rotate, async (c) => {
      const { app } = c.req.valid('param')
      const { signingSecret, overlapSeconds } = c.req.valid('json')
      const item = await apps.rotate(app, signingSecret, overlapSeconds)
      runtime.changed(app)
      c.get('log').info('Signing secret rotated', { app, operator: c.get('operator') })
      return c.json(await view(c, item), 201)
    })
    .openapi(decisions, async (c) => {
      const app = await runtime.get(c.req.valid('param').app)
      if (!app) throw twoKeyError('app_not_found')
      const items = app.decisions.latest(c.req.valid('query').limit).map((decision) => ({
        at: new Date(decision.at).toISOString(),
        outcome: decision.outcome,
        reason: decision.reason,
        ids: decision.ids ? { ...decision.ids } : null,
      }))
      return c.json({ items }, 200)
    })
}

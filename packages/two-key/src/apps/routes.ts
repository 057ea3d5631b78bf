/** `/v1/apps`, for operators: apps with their signing secrets, upstreams and policies. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse } from '@strongroom/kit/http/openapi'
import { operatorErrors, type OperatorPermissions } from '@strongroom/kit/http/permissions'
import type { Context } from 'hono'
import { twoKeyError } from '../errors.ts'
import type { AuditedChanges } from './audited.ts'
import type { AppItem } from './item.ts'
import { decisionOutcomes, MAX_MINUTES } from './recent-decisions.ts'
import type { AppRegistry } from './registry.ts'
import type { AppService } from './service.ts'
import {
  AppChange,
  AppName,
  AppView,
  DecisionCountsView,
  DecisionView,
  NewApp,
  SigningSecret,
  toAppView,
  toDecisionView,
} from './view.ts'

const DAY_SECONDS = 86_400

export function appRoutes(deps: {
  apps: AppService
  registry: Pick<AppRegistry, 'get' | 'invalidate' | 'remove'>
  audited: AuditedChanges
  permit: OperatorPermissions
  /** Without a slash at its end. */
  publicUrl: string
}): OpenAPIHono<AppEnv> {
  const { apps, audited, registry, permit, publicUrl } = deps
  const notFound = errorResponses(twoKeyError, 'app_not_found')
  const AppParams = z.object({ app: AppName })
  /** Its URL does not use the Host header, which the client controls. */
  const toView = async (c: Context, item: AppItem) => {
    const { path } = c.req
    const base = publicUrl + path.slice(0, path.indexOf('/v1/'))
    return toAppView(item, await apps.signingSecrets(item), base)
  }

  const add = createRoute({
    ...permit.admin,
    method: 'post',
    path: '/v1/apps',
    summary: 'Add a Slack app',
    description:
      'Then set its `url` as the request URL at Slack, and set the bot token of each workspace.',
    request: { body: jsonBody(NewApp) },
    responses: {
      201: jsonResponse(AppView, 'The app was added'),
      ...operatorErrors,
      ...errorResponses(twoKeyError, 'app_exists', 'invalid_upstream'),
    },
  })
  const list = createRoute({
    ...permit.viewer,
    method: 'get',
    path: '/v1/apps',
    summary: 'List Slack apps',
    responses: {
      200: jsonResponse(z.object({ items: z.array(AppView) }), 'All apps, by name'),
      ...operatorErrors,
    },
  })
  const get = createRoute({
    ...permit.viewer,
    method: 'get',
    path: '/v1/apps/{app}',
    summary: 'Get a Slack app',
    request: { params: AppParams },
    responses: { 200: jsonResponse(AppView, 'The app'), ...operatorErrors, ...notFound },
  })
  const change = createRoute({
    ...permit.admin,
    method: 'patch',
    path: '/v1/apps/{app}',
    summary: 'Update a Slack app',
    description:
      'Omitted fields stay as they are. Other processes see the change within ten seconds.',
    request: { params: AppParams, body: jsonBody(AppChange) },
    responses: {
      200: jsonResponse(AppView, 'The updated app'),
      ...operatorErrors,
      ...notFound,
      ...errorResponses(twoKeyError, 'invalid_upstream', 'changed_meanwhile'),
    },
  })
  const remove = createRoute({
    ...permit.editor,
    method: 'delete',
    path: '/v1/apps/{app}',
    summary: 'Delete a Slack app and its bot tokens',
    request: { params: AppParams },
    responses: { 204: { description: 'The app was deleted' }, ...operatorErrors, ...notFound },
  })
  const rotate = createRoute({
    ...permit.editor,
    method: 'post',
    path: '/v1/apps/{app}/signing-secrets',
    summary: 'Rotate the signing secret',
    description:
      'The older secrets end immediately, as after a leak, or stay valid for the overlap. Other processes see the change within ten seconds.',
    request: {
      params: AppParams,
      body: jsonBody(
        z.strictObject({
          signingSecret: SigningSecret,
          overlapSeconds: z
            .number()
            .int()
            .min(0)
            .max(30 * DAY_SECONDS)
            .default(0),
        }),
      ),
    },
    responses: {
      201: jsonResponse(AppView, 'The app with its new secret'),
      ...operatorErrors,
      ...notFound,
      ...errorResponses(twoKeyError, 'too_many_secrets', 'changed_meanwhile'),
    },
  })
  const decisions = createRoute({
    ...permit.viewer,
    method: 'get',
    path: '/v1/apps/{app}/decisions',
    summary: 'List recent decisions',
    description:
      'The decisions of the process that responds, the newest first. They are held in memory only.',
    request: {
      params: AppParams,
      query: z.object({
        limit: z.coerce.number().int().min(1).max(200).default(50),
        outcome: z.enum(decisionOutcomes).optional(),
        after: z.coerce.number().int().min(0).optional().openapi({
          description: 'Only decisions with a higher number, to follow them as they happen',
        }),
      }),
    },
    responses: {
      200: jsonResponse(z.object({ items: z.array(DecisionView) }), 'The decisions'),
      ...operatorErrors,
      ...notFound,
    },
  })
  const counts = createRoute({
    ...permit.viewer,
    method: 'get',
    path: '/v1/apps/{app}/decision-counts',
    summary: 'Count recent decisions by minute',
    description:
      'The decisions of the process that responds, since it started. They are held in memory only.',
    request: {
      params: AppParams,
      query: z.object({ minutes: z.coerce.number().int().min(1).max(MAX_MINUTES).default(180) }),
    },
    responses: {
      200: jsonResponse(
        z.object({ items: z.array(DecisionCountsView) }),
        'The minutes, the oldest first',
      ),
      ...operatorErrors,
      ...notFound,
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(add, async (c) => {
      const app = c.req.valid('json')
      const item = await audited.addApp(c.get('actor'), app)
      registry.invalidate(app.name)
      c.get('log').info('Slack app added', { app: app.name, operator: c.get('operator') })
      return c.json(await toView(c, item), 201)
    })
    .openapi(list, async (c) => {
      const items = await Promise.all((await apps.list()).map(async (item) => toView(c, item)))
      return c.json({ items }, 200)
    })
    .openapi(get, async (c) => {
      const item = await apps.get(c.req.valid('param').app)
      if (!item) throw twoKeyError('app_not_found')
      return c.json(await toView(c, item), 200)
    })
    .openapi(change, async (c) => {
      const { app } = c.req.valid('param')
      const item = await audited.changeApp(c.get('actor'), app, c.req.valid('json'))
      registry.invalidate(app)
      c.get('log').info('Slack app changed', { app, operator: c.get('operator') })
      return c.json(await toView(c, item), 200)
    })
    .openapi(remove, async (c) => {
      const { app } = c.req.valid('param')
      await audited.removeApp(c.get('actor'), app)
      registry.remove(app)
      c.get('log').info('Slack app removed', { app, operator: c.get('operator') })
      return c.body(null, 204)
    })
    .openapi(rotate, async (c) => {
      const { app } = c.req.valid('param')
      const { signingSecret, overlapSeconds } = c.req.valid('json')
      const item = await audited.rotateSecret(c.get('actor'), app, {
        signingSecret,
        overlapSeconds,
      })
      registry.invalidate(app)
      c.get('log').info('Signing secret rotated', { app, operator: c.get('operator') })
      return c.json(await toView(c, item), 201)
    })
    .openapi(decisions, async (c) => {
      const app = await registry.get(c.req.valid('param').app)
      if (!app) throw twoKeyError('app_not_found')
      const items = app.decisions.list(c.req.valid('query')).map(toDecisionView)
      return c.json({ items }, 200)
    })
    .openapi(counts, async (c) => {
      const app = await registry.get(c.req.valid('param').app)
      if (!app) throw twoKeyError('app_not_found')
      const items = app.decisions
        .counts(c.req.valid('query').minutes)
        .map(({ from, ...each }) => ({ from: new Date(from).toISOString(), ...each }))
      return c.json({ items }, 200)
    })
}

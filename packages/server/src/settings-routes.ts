/** `/server/v1/settings`: the settings that this server runs with. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { CurrentSetting } from '@strongroom/kit/config'
import type { AppEnv } from '@strongroom/kit/http/env'
import { jsonResponse } from '@strongroom/kit/http/openapi'
import { operatorErrors, type OperatorPermissions } from '@strongroom/kit/http/permissions'

const SettingView = z
  .object({
    name: z.string().openapi({ example: 'STRONGROOM_RECOVERY_DAYS' }),
    service: z.string().nullable().openapi({ description: 'Null for settings of the server' }),
    value: z.string().nullable().openapi({ description: 'Null if not set, and for secrets' }),
    default: z.string().nullable(),
    isSet: z.boolean(),
    isRequired: z.boolean(),
    source: z.enum(['default', 'environment', 'file']),
    secret: z.boolean().openapi({ description: 'The value is never shown' }),
    type: z.string(),
    description: z.string(),
  })
  .openapi('Setting')
export type SettingView = z.infer<typeof SettingView>

export function settingsRoutes(deps: {
  permit: OperatorPermissions
  current: () => CurrentSetting[]
  /** The service that declares each setting, if one does. */
  serviceOf: (name: string) => string | undefined
}): OpenAPIHono<AppEnv> {
  const { permit, current, serviceOf } = deps
  const route = createRoute({
    ...permit.viewer,
    method: 'get',
    path: '/server/v1/settings',
    summary: 'List the settings of this server',
    description: 'As they are, and where they came from. Secrets are only set or not set.',
    responses: {
      200: jsonResponse(z.object({ items: z.array(SettingView) }), 'All settings'),
      ...operatorErrors,
    },
  })
  return new OpenAPIHono<AppEnv>().openapi(route, (c) => {
    const items = current().map(({ required, ...setting }) => {
      return { ...setting, isRequired: required, service: serviceOf(setting.name) ?? null }
    })
    return c.json({ items }, 200)
  })
}

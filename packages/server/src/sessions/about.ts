/** `/server/v1/about`: what the sign-in page of the console may show to anybody. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { jsonResponse } from '@strongroom/kit/http/openapi'
import { declarePermissions } from '@strongroom/kit/http/permissions'
import { isLoopbackHost } from '@strongroom/kit/safe-fetch/public-address'
import type { Service } from '@strongroom/kit/service'

const AboutView = z
  .object({
    origin: z.string().openapi({ description: 'The address at which sessions work' }),
    isSecure: z.boolean().openapi({
      description: 'Whether browsers accept session cookies there: on https and on localhost',
    }),
    services: z.array(z.object({ name: z.string(), title: z.string() })),
    signUp: z
      .enum(['open', 'invite', 'closed'])
      .nullable()
      .openapi({ description: 'Of Ferryhook; null if it does not run' }),
    providers: z
      .array(z.enum(['github', 'google']))
      .openapi({ description: 'Through which Ferryhook users can sign in' }),
    hasAdmin: z.boolean().openapi({ description: 'False until the first admin was added' }),
  })
  .openapi('About')
export type AboutView = z.infer<typeof AboutView>

/** The settings of Ferryhook that the page depends on. */
interface SignUpSettings {
  FERRYHOOK_SIGNUP?: 'open' | 'invite' | 'closed'
  FERRYHOOK_GITHUB_CLIENT_ID?: string
  FERRYHOOK_GOOGLE_CLIENT_ID?: string
}

export function aboutRoutes(deps: {
  services: readonly Pick<Service, 'name' | 'title'>[]
  config: SignUpSettings
  publicUrl: string
  needsAdmin(): Promise<boolean>
}): OpenAPIHono<AppEnv> {
  const { services, config, publicUrl } = deps
  const { origin, protocol, hostname } = new URL(publicUrl)
  const hasFerryhook = services.some(({ name }) => name === 'ferryhook')
  // One admin always remains, so the answer changes once.
  let hasAdmin = false

  const about = createRoute({
    ...declarePermissions('Server').public,
    method: 'get',
    path: '/server/v1/about',
    summary: 'Get what the sign-in page shows',
    responses: { 200: jsonResponse(AboutView, 'Services, and ways to sign in') },
  })

  return new OpenAPIHono<AppEnv>().openapi(about, async (c) => {
    hasAdmin ||= !(await deps.needsAdmin())
    return c.json(
      {
        origin,
        isSecure: protocol === 'https:' || isLoopbackHost(hostname),
        services: services.map(({ name, title }) => ({ name, title })),
        signUp: hasFerryhook ? (config.FERRYHOOK_SIGNUP ?? 'invite') : null,
        providers: hasFerryhook ? providersOf(config) : [],
        hasAdmin,
      },
      200,
    )
  })
}

function providersOf(config: SignUpSettings): ('github' | 'google')[] {
  return [
    ...(config.FERRYHOOK_GITHUB_CLIENT_ID === undefined ? [] : (['github'] as const)),
    ...(config.FERRYHOOK_GOOGLE_CLIENT_ID === undefined ? [] : (['google'] as const)),
  ]
}

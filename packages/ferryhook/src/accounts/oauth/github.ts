/** Sign-in through GitHub, which has OAuth without OpenID: its API identifies the user. */
import * as oauth from 'openid-client'
import * as z from 'zod'
import {
  createCodeGrant,
  type IdentityProvider,
  insecureOptions,
  TIMEOUT_SECONDS,
} from './provider.ts'

const Profile = z.object({
  id: z.int().positive(),
  login: z.string(),
  name: z.string().nullish(),
})

const Emails = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }))

export function githubProvider(client: {
  url: string
  apiUrl: string
  clientId: string
  clientSecret: string
}): IdentityProvider {
  const { url, apiUrl, clientId, clientSecret } = client

  /** Undefined if the API returns an error or something unexpected. */
  async function get<Schema extends z.ZodType>(
    config: oauth.Configuration,
    accessToken: string,
    path: string,
    schema: Schema,
  ): Promise<z.infer<Schema> | undefined> {
    const response = await oauth.fetchProtectedResource(
      config,
      accessToken,
      new URL(apiUrl + path),
      'GET',
      null,
      new Headers({ accept: 'application/vnd.github+json' }),
    )
    const body: unknown = response.ok ? await response.json() : undefined
    return schema.safeParse(body).data
  }

  return createCodeGrant({
    scope: 'read:user user:email',
    isOpenId: false,
    loadConfiguration: async () => {
      const server = {
        issuer: `${url}/login/oauth`,
        authorization_endpoint: `${url}/login/oauth/authorize`,
        token_endpoint: `${url}/login/oauth/access_token`,
      }
      const config = new oauth.Configuration(server, clientId, clientSecret)
      config.timeout = TIMEOUT_SECONDS
      for (const apply of insecureOptions(url)) apply(config)
      return config
    },

    async loadIdentity(config, { access_token: token }) {
      const profile = await get(config, token, '/user', Profile)
      const emails = profile && (await get(config, token, '/user/emails', Emails))
      if (!profile || !emails) return undefined
      return {
        id: String(profile.id),
        name: profile.name ?? profile.login,
        email: emails.find(({ primary, verified }) => primary && verified)?.email,
      }
    },
  })
}

/** Sign-in through GitHub, which has OAuth without OpenID: who it is, its API says. */
import * as oauth from 'openid-client'
import * as z from 'zod'
import {
  codeGrant,
  customs,
  type IdentityProvider,
  ProviderUnavailable,
  TIMEOUT_SECONDS,
} from './identity-provider.ts'

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

  async function ask<Schema extends z.ZodType>(
    config: oauth.Configuration,
    accessToken: string,
    path: string,
    schema: Schema,
  ): Promise<z.infer<Schema>> {
    const answer = await oauth.fetchProtectedResource(
      config,
      accessToken,
      new URL(apiUrl + path),
      'GET',
      null,
      new Headers({ accept: 'application/vnd.github+json' }),
    )
    const body: unknown = answer.ok ? await answer.json() : undefined
    const parsed = schema.safeParse(body)
    if (!parsed.success) throw new ProviderUnavailable('The API answers with something else')
    return parsed.data
  }

  return codeGrant({
    scope: 'read:user user:email',
    isOpenId: false,
    configuration: async () => {
      const server = {
        issuer: `${url}/login/oauth`,
        authorization_endpoint: `${url}/login/oauth/authorize`,
        token_endpoint: `${url}/login/oauth/access_token`,
      }
      const config = new oauth.Configuration(server, clientId, clientSecret)
      config.timeout = TIMEOUT_SECONDS
      for (const custom of customs(url)) custom(config)
      return config
    },

    async identityOf(config, { access_token: token }) {
      const profile = await ask(config, token, '/user', Profile)
      const emails = await ask(config, token, '/user/emails', Emails)
      return {
        id: String(profile.id),
        name: profile.name ?? profile.login,
        email: emails.find(({ primary, verified }) => primary && verified)?.email,
      }
    },
  })
}

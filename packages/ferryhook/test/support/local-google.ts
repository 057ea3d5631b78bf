/** A local OpenID provider that signs in the user chosen by the test. */
import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import { type Configuration, type JWK, Provider } from 'oidc-provider'
import { listening, type LocalProvider } from './local-provider.ts'

interface GoogleUser {
  sub: string
  email?: string
  email_verified?: boolean
  name?: string
}

export interface LocalGoogle extends LocalProvider {
  issuer: string
  clientId: string
  clientSecret: string
  /** The next user to sign in. */
  user: GoogleUser
}

const CLIENT = { client_id: 'strongroom', client_secret: 'secret-of-the-client' }

export async function openGoogle(options: {
  redirectUri: string
  /** As Google does; other providers return it only on request. */
  tellsEmailInToken?: boolean
}): Promise<LocalGoogle> {
  const { redirectUri, tellsEmailInToken = true } = options
  const users = new Map<string, GoogleUser>()
  const server = createServer()
  const address = await listening(server)
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const configuration: Configuration = {
    clients: [{ ...CLIENT, redirect_uris: [redirectUri] }],
    jwks: { keys: [{ ...(privateKey.export({ format: 'jwk' }) as JWK), use: 'sig' }] },
    cookies: { keys: ['keys of the test'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: !tellsEmailInToken,
    ttl: { AccessToken: 60, Grant: 60, IdToken: 60, Interaction: 60, Session: 60 },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, sub) => ({ accountId: sub, claims: async () => ({ ...users.get(sub), sub }) }),
    async loadExistingGrant(context) {
      const { session, client } = context.oidc
      const grant = new context.oidc.provider.Grant({
        accountId: session?.accountId ?? '',
        clientId: client?.clientId ?? '',
      })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
  }
  const provider = new Provider(address, configuration)
  const handle = provider.callback()
  const google: LocalGoogle = {
    issuer: address,
    clientId: CLIENT.client_id,
    clientSecret: CLIENT.client_secret,
    user: { sub: 'nobody' },
    async close() {
      server.closeAllConnections()
      server.close()
    },
  }
  server.on('request', (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return void handle(request, response)
    users.set(google.user.sub, google.user)
    const login = { accountId: google.user.sub }
    void provider.interactionFinished(request, response, { login })
  })
  return google
}

/** A local GitHub for sign-in: OAuth with PKCE, and the user API. */
import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { listening, type LocalProvider } from './local-provider.ts'

export interface GithubUser {
  id: number
  login: string
  name: string | null
  emails: { email: string; primary: boolean; verified: boolean }[]
}

export interface LocalGithub extends LocalProvider {
  url: string
  apiUrl: string
  clientId: string
  clientSecret: string
  /** The next user to sign in; undefined declines. */
  user: GithubUser | undefined
  /** Returned instead of the response of its API. */
  apiFailure: number | undefined
}

export async function openGithub(redirectUri: string): Promise<LocalGithub> {
  const codes = new Map<string, { user: GithubUser; challenge: string }>()
  const tokens = new Map<string, GithubUser>()
  const server = createServer((request, response) => void answer(request, response))
  const address = await listening(server)
  const github: LocalGithub = {
    url: address,
    apiUrl: `${address}/api/v3`,
    clientId: 'Iv1.strongroom',
    clientSecret: 'secret-of-the-app',
    user: undefined,
    apiFailure: undefined,
    async close() {
      server.closeAllConnections()
      server.close()
    },
  }
  return github

  async function answer(request: IncomingMessage, response: ServerResponse) {
    const url = new URL(request.url ?? '', address)
    const json = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

    if (url.pathname === '/login/oauth/authorize') {
      const back = new URL(url.searchParams.get('redirect_uri') ?? '')
      const isRight = back.href === redirectUri && url.searchParams.get('scope') !== null
      if (!isRight) return json(400, { error: 'redirect_uri_mismatch' })
      back.searchParams.set('state', url.searchParams.get('state') ?? '')
      if (github.user) {
        const code = randomUUID()
        const challenge = url.searchParams.get('code_challenge') ?? ''
        codes.set(code, { user: github.user, challenge })
        back.searchParams.set('code', code)
      } else {
        back.searchParams.set('error', 'access_denied')
      }
      return response.writeHead(302, { location: back.href }).end()
    }

    if (url.pathname === '/login/oauth/access_token') {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const form = new URLSearchParams(Buffer.concat(chunks).toString())
      const given = codes.get(form.get('code') ?? '')
      codes.delete(form.get('code') ?? '')
      const verifier = createHash('sha256').update(form.get('code_verifier') ?? '')
      const isRight =
        given?.challenge === verifier.digest('base64url') &&
        form.get('client_id') === github.clientId &&
        form.get('client_secret') === github.clientSecret
      // GitHub also declines with 200.
      if (!isRight || !given) return json(200, { error: 'bad_verification_code' })
      const token = `gho_${randomUUID()}`
      tokens.set(token, given.user)
      return json(200, { access_token: token, token_type: 'bearer', scope: 'read:user,user:email' })
    }

    const user = tokens.get(/^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '')
    if (github.apiFailure !== undefined) return json(github.apiFailure, { message: 'Sorry' })
    if (!user) return json(401, { message: 'Bad credentials' })
    const { emails, ...profile } = user
    return json(200, url.pathname === '/api/v3/user/emails' ? emails : profile)
  }
}

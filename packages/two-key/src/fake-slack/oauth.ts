/** The installation of apps at the fake Slack: codes, each for one token, once. */
import type { FakeClient, FakeTeam } from './fixtures.ts'
import { allScopes } from './fixtures.ts'
import type { SlackAnswer, SlackArguments } from './methods.ts'

export interface FakeOAuth {
  /** The address that a browser is sent to after a person has agreed or cancelled. */
  authorize(url: string, choice: SlackArguments): string
  /** `oauth.v2.access`. `basic` is the client's id and secret of the Authorization header. */
  access(args: SlackArguments, basic: string | undefined): SlackAnswer
}

interface Code {
  client: FakeClient
  team: string
  redirectUri: string
}

const no = (error: string): SlackAnswer => ({ ok: false, error })

export function createFakeOAuth(deps: {
  clients: readonly FakeClient[]
  teams: ReadonlyMap<string, FakeTeam>
}): FakeOAuth {
  const { clients, teams } = deps
  const codes = new Map<string, Code>()
  const used = new Set<string>()
  let made = 0

  return {
    authorize(url, { team, cancel }) {
      const asked = new URL(url).searchParams
      const redirectUri = asked.get('redirect_uri') ?? ''
      // Slack then redirects to the address that is set at Slack, which is not known here.
      if (!URL.canParse(redirectUri)) return `${new URL(url).origin}/redirect_uri_is_missing`
      const back = new URL(redirectUri)
      const state = asked.get('state')
      if (state !== null) back.searchParams.set('state', state)
      const client = clients.find(({ id }) => id === asked.get('client_id'))
      const chosen = team ?? [...teams.keys()][0] ?? ''
      if (!client || cancel !== undefined || !teams.has(chosen)) {
        back.searchParams.set('error', client ? 'access_denied' : 'invalid_client_id')
        return back.href
      }
      const code = `${client.id}.code.${++made}`
      codes.set(code, { client, team: chosen, redirectUri })
      back.searchParams.set('code', code)
      return back.href
    },

    access(args, basic) {
      const [id, secret] = basic
        ? Buffer.from(basic, 'base64').toString().split(':').map(decodeURIComponent)
        : [args['client_id'], args['client_secret']]
      const client = clients.find((each) => each.id === id)
      if (!client) return no('invalid_client_id')
      if (client.secret !== secret) return no('bad_client_secret')
      const name = args['code'] ?? ''
      const code = codes.get(name)
      if (!code || code.client.id !== client.id) return no('invalid_code')
      if (used.has(name)) return no('code_already_used')
      if (code.redirectUri !== (args['redirect_uri'] ?? '')) return no('bad_redirect_uri')
      const team = teams.get(code.team)
      if (!team) return no('invalid_code')
      used.add(name)
      return grant(team, client)
    },
  }
}

function grant(team: FakeTeam, client: FakeClient): SlackAnswer {
  const organisation = team.enterprise === undefined ? null : { id: team.enterprise, name: 'Org' }
  return {
    ok: true,
    access_token: team.token,
    token_type: 'bot',
    scope: (team.scopes ?? allScopes).join(','),
    bot_user_id: 'U0000BOT1',
    app_id: client.app,
    team: team.orgWide ? null : { id: team.id, name: `Workspace ${team.id}` },
    enterprise: organisation,
    is_enterprise_install: team.orgWide === true,
    authed_user: { id: team.users?.[0]?.id ?? 'U0INSTALLER' },
    ...team.access,
  }
}

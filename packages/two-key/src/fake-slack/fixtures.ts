/** The workspaces of the fake Slack, with their tokens, users, bots and conversations. */

export interface FakeUser {
  id: string
  deleted?: boolean
  /** Another workspace, if the user is visible through a shared channel. */
  team?: string
  /** A user of another workspace without a shared channel. */
  stranger?: boolean
}

export interface FakeBot {
  id: string
  deleted?: boolean
  app?: string
}

export interface FakeChannel {
  id: string
  kind?: 'public' | 'private' | 'im' | 'mpim'
  /** The user of a direct message. */
  peer?: string
  archived?: boolean
  /** Other workspaces that share it. */
  sharedWith?: readonly string[]
  /** Slack reports a channel that the bot cannot see as not found. */
  visible?: boolean
}

export interface FakeTeam {
  id: string
  token: string
  enterprise?: string
  /** The token is valid for the whole organisation. */
  orgWide?: boolean
  app?: string
  /** The scopes of the token; by default all. */
  scopes?: readonly string[]
  users?: readonly FakeUser[]
  bots?: readonly FakeBot[]
  channels?: readonly FakeChannel[]
  /** Workspaces that are visible through shared channels. */
  connected?: readonly string[]
  /** What `oauth.v2.access` returns besides or instead of the token, for faults of installations. */
  access?: Readonly<Record<string, unknown>>
}

/** The app's client, with which workspaces install it. */
export interface FakeClient {
  id: string
  secret: string
  app: string
}

export const allScopes = [
  'team:read',
  'users:read',
  'channels:read',
  'groups:read',
  'im:read',
  'mpim:read',
  'chat:write',
] as const

/** A sample workspace, and the secret that signs its requests. */
export const sampleSecret = '8f742231b10e8888abcd99yyyzzz85a5'
export const sampleClient: FakeClient = {
  id: '1000000001.2000000001',
  secret: 'fake-client-secret-00000001',
  app: 'A00000001',
}
export const sampleTeam: FakeTeam = {
  id: 'T00000001',
  token: 'xoxb-fake-00000001',
  app: 'A00000001',
  users: [{ id: 'U00000001' }, { id: 'U00000002' }, { id: 'U0000GONE', deleted: true }],
  bots: [{ id: 'B00000001', app: 'A00000001' }],
  channels: [
    { id: 'C00000001' },
    { id: 'G00000001', kind: 'private' },
    { id: 'G0000HIDE', kind: 'private', visible: false },
    { id: 'D00000001', kind: 'im', peer: 'U00000001' },
  ],
}

/** What a fake Slack knows: workspaces with their tokens, people, bots and conversations. */

export interface FakeUser {
  id: string
  deleted?: boolean
  /** Of another workspace, seen through a shared channel. */
  team?: string
  /** Of another workspace and in no shared channel. */
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
  /** The other side of a direct message. */
  peer?: string
  archived?: boolean
  /** Further workspaces that share it. */
  sharedWith?: readonly string[]
  /** Whether the bot sees it; of one that it does not see Slack says that there is none. */
  visible?: boolean
}

export interface FakeTeam {
  id: string
  token: string
  enterprise?: string
  /** The token is of the whole organisation and not of this workspace. */
  orgWide?: boolean
  app?: string
  /** What the token may do; everything unless told. */
  scopes?: readonly string[]
  users?: readonly FakeUser[]
  bots?: readonly FakeBot[]
  channels?: readonly FakeChannel[]
  /** Workspaces that are seen through shared channels. */
  connected?: readonly string[]
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

/** A workspace to try things with, and the secret that its requests are signed with. */
export const sampleSecret = '8f742231b10e8888abcd99yyyzzz85a5'
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

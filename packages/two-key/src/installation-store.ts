/**
 * An installation store for Bolt on the table of workspace tokens. It stores the bot token of each
 * workspace, encrypted, and nothing else: the rest of an installation comes from `auth.test`.
 */
import { awsDbOf } from '@strongroom/kit/aws-db'
import type { SecretBox } from '@strongroom/kit/secret-box'
import { type Clock, systemClock } from '@strongroom/platform/clock'
import { prefixTables } from '@strongroom/kit/prefix-tables'
import { createSlackApi, type SlackApiOptions } from './existence/slack-api.ts'
import {
  createInstallationStore,
  type TwoKeyInstallationStore,
} from './installations/bolt-store.ts'
import { createStores } from './stores.ts'
import { createTokenService } from './tokens/service.ts'

export { createKeyBox } from './installations/key-box.ts'
export type { TwoKeyInstallationStore } from './installations/bolt-store.ts'

export interface InstallationStoreOptions {
  client: Parameters<typeof awsDbOf>[0]
  /** Encrypts the tokens: `createKeyBox(key)`, or one on your KMS. */
  box: SecretBox
  /** Prefix of the table name, `slack-workspace-tokens`. */
  tablePrefix?: string
  /** Required for every app but the first one that uses the table. */
  app?: string
  slackApiUrl?: string
  fetch?: SlackApiOptions['fetch']
  clock?: Clock
}

export function dynamoInstallationStore(
  options: InstallationStoreOptions,
): TwoKeyInstallationStore {
  const { client, box, tablePrefix = '', app, slackApiUrl, clock = systemClock } = options
  const db = prefixTables(awsDbOf(client), tablePrefix)
  const { tokens } = createStores({ db, clock, ...(app !== undefined && { app }) })
  const { fetch } = options
  return createInstallationStore({
    tokens: createTokenService({ app: app ?? 'app', tokens, box, clock }),
    api: createSlackApi({ clock, baseUrl: slackApiUrl, ...(fetch && { fetch }) }),
    clock,
  })
}

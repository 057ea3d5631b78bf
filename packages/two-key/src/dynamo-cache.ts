/** A DynamoDB cache of verified triples, for apps on several machines or on Lambda. */
import { awsDbOf } from '@strongroom/kit/aws-db'
import { type Clock, systemClock } from '@strongroom/platform/clock'
import { prefixTables } from '@strongroom/kit/prefix-tables'
import { createTripleStore, type TripleStore } from './existence/triple-store.ts'
import { appKeys } from './keys.ts'

export interface DynamoCacheOptions {
  client: Parameters<typeof awsDbOf>[0]
  /** Prefix of the table name, `slack-existence-check-cache`. */
  tablePrefix?: string
  /** Required for every app but the first one that uses the table. */
  app?: string
  clock?: Clock
}

export function dynamoCache(options: DynamoCacheOptions): TripleStore {
  const { client, tablePrefix = '', app, clock = systemClock } = options
  const db = prefixTables(awsDbOf(client), tablePrefix)
  return createTripleStore({ db, clock, keys: appKeys(app) })
}

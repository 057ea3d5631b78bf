/** The cache of verified triples in DynamoDB, for apps that run on several machines or on Lambda. */
import { awsDbOf } from '@strongroom/kit/aws-db'
import { type Clock, systemClock } from '@strongroom/kit/clock'
import { prefixTables } from '@strongroom/kit/prefix-tables'
import { createExistenceCache, type ExistenceCache } from './existence-cache.ts'
import { appKeys } from './keys.ts'

export interface DynamoCacheOptions {
  client: Parameters<typeof awsDbOf>[0]
  /** What stands before the name of the table, `slack-existence-check-cache`. */
  tablePrefix?: string
  /** The name of every app but the first that uses the table. */
  app?: string
  clock?: Clock
}

export function dynamoCache(options: DynamoCacheOptions): ExistenceCache {
  const { client, tablePrefix = '', app, clock = systemClock } = options
  const db = prefixTables(awsDbOf(client), tablePrefix)
  return createExistenceCache({ db, clock, keys: appKeys(app) })
}

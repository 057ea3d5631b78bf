/** The store of branch keys: a `Db`, or a client of the AWS SDK. */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { type Db, eachOperation } from '@strongroom/kit/db'
import { retryingDb } from '@strongroom/kit/retrying-db'

export type DbSource = { db: Db; client?: never } | { client: DynamoDBClient; db?: never }

export function toDb({ db, client }: { [Way in keyof DbSource]?: DbSource[Way] }): Db {
  if (db) return db
  if (client) return toClientDb(client)
  throw new TypeError('Cannot reach branch keys: give a db, or a client of the AWS SDK')
}

/** A `Db` needs no SDK, so the SDK is loaded when a client is first used. */
function toClientDb(client: DynamoDBClient): Db {
  const load = async () => {
    const { awsDbOf } = await import('@strongroom/kit/aws-db')
    return retryingDb(awsDbOf(client))
  }
  let loading: Promise<Db> | undefined
  return eachOperation((name) => async (input) => {
    loading ??= load()
    return (await loading)[name](input)
  })
}

/** The store of branch keys, given as the product has it or as a client of the AWS SDK. */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { type Db, eachOperation } from '@strongroom/kit/db'
import { retryingDb } from '@strongroom/kit/retrying-db'

export type GivenDb = { db: Db; client?: never } | { client: DynamoDBClient; db?: never }

export function dbOf({ db, client }: { [Way in keyof GivenDb]?: GivenDb[Way] }): Db {
  if (db) return db
  if (client) return dbOfClient(client)
  throw new TypeError('Cannot reach branch keys: give a db, or a client of the AWS SDK')
}

/** Whoever gives a Db needs no SDK, so it is loaded when a client is first used. */
function dbOfClient(client: DynamoDBClient): Db {
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

/** The targets that other people's programs run on: those where the program brings its own SDK client. */
import { openDropIn, openHttp } from './engine-targets.ts'
import { openDynamoDbLocal } from './local-target.ts'
import type { Target } from './target.ts'

/** DynamoDB Local is among them only where one is running already; programs need no reference. */
export async function openProgramTargets(): Promise<Target[]> {
  const local = process.env['DYNAMODB_LOCAL_ENDPOINT'] ? [await openDynamoDbLocal()] : []
  const targets = [await openDropIn(), await openHttp(), ...local]
  return targets.filter((target) => target !== undefined)
}

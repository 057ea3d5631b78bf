/**
 * Every operation of AWS's API, from the commands of its SDK: which the engine serves, and which it
 * refuses. The client for streams is a package of its own, too small to be needed here.
 */
import * as sdk from '@aws-sdk/client-dynamodb'
import { wireOperations } from '../src/operations/all.ts'

const ofStreams = ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams']

const ofTables = Object.keys(sdk)
  .filter((name) => /^[A-Z]\w*Command$/.test(name))
  .map((name) => name.slice(0, -'Command'.length))

/** Each with its prefix in the x-amz-target header. */
export const awsOperations: readonly { name: string; target: string }[] = [
  ...ofTables.map((name) => ({ name, target: `DynamoDB_20120810.${name}` })),
  ...ofStreams.map((name) => ({ name, target: `DynamoDBStreams_20120810.${name}` })),
].toSorted((a, b) => (a.name < b.name ? -1 : 1))

export function isServed(operation: string): boolean {
  return wireOperations.has(operation)
}

/** Of `docs/dynamodb-differences.md`. */
export function operationsSection(): string[] {
  const named = (served: boolean) =>
    awsOperations.filter(({ name }) => isServed(name) === served).map(({ name }) => name)
  const lines = (names: string[]) => `${names.join(', ')}.`
  return [
    '## Operations',
    '',
    `Implemented (${named(true).length}): ${lines(named(true))}`,
    '',
    `Rejected with an UnknownOperationException (${named(false).length}): ${lines(named(false))}`,
    '',
  ]
}

/** The operation in an `x-amz-target` header. */
import { operations } from '../operations/all.ts'
import type { Operation } from '../operations/operation.ts'

const DYNAMODB = 'DynamoDB_20120810.'
const STREAMS = 'DynamoDBStreams_20120810.'

const names = new Map(
  Object.values(operations as unknown as Record<string, Operation<unknown, object>>).map(
    ({ name, service }) => [`${service === 'streams' ? STREAMS : DYNAMODB}${name}`, name],
  ),
)

/** Undefined if there is no such operation, or if it is of another service. */
export function operationOf(target: string): string | undefined {
  return names.get(target)
}

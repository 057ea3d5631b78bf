/** The operation in an `x-amz-target` header; in AWS, streams are a separate service. */

const DYNAMODB = 'DynamoDB_20120810.'
const STREAMS = 'DynamoDBStreams_20120810.'
const ofStreams = new Set(['ListStreams', 'DescribeStream', 'GetShardIterator', 'GetRecords'])

/** Undefined if the target is of another service. */
export function operationOf(target: string): string | undefined {
  if (target.startsWith(DYNAMODB)) {
    const name = target.slice(DYNAMODB.length)
    return ofStreams.has(name) ? undefined : name
  }
  const name = target.startsWith(STREAMS) ? target.slice(STREAMS.length) : ''
  return ofStreams.has(name) ? name : undefined
}

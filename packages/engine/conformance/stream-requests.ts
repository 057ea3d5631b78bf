/**
 * Requests to DynamoDB Streams. The SDK has a client of its own for them; what it would send is little
 * enough to be written here, so that the suites need no other package.
 */
import type { Item } from './harness.ts'
import type { Target } from './target.ts'

export interface Event {
  eventID: string
  eventName: string
  eventVersion: string
  eventSource: string
  awsRegion: string
  dynamodb: {
    ApproximateCreationDateTime: number
    Keys: Item
    NewImage?: Item
    OldImage?: Item
    SequenceNumber: string
    SizeBytes: number
    StreamViewType: string
  }
  userIdentity?: { PrincipalId: string; Type: string }
}

export interface Page {
  Records: Event[]
  NextShardIterator?: string
}

interface Answers {
  ListStreams: {
    Streams: { StreamArn: string; TableName: string; StreamLabel: string }[]
    LastEvaluatedStreamArn?: string
  }
  DescribeStream: {
    StreamDescription: {
      StreamArn: string
      StreamLabel: string
      StreamStatus: string
      StreamViewType: string
      CreationRequestDateTime: number
      TableName: string
      KeySchema: { AttributeName: string; KeyType: string }[]
      Shards: {
        ShardId: string
        SequenceNumberRange: { StartingSequenceNumber: string; EndingSequenceNumber?: string }
      }[]
    }
  }
  GetShardIterator: { ShardIterator: string }
  GetRecords: Page
}

export interface StreamRequests {
  <Operation extends keyof Answers>(
    operation: Operation,
    input: object,
  ): Promise<Answers[Operation]>
}

interface Handler {
  handle(request: object): Promise<{ response: { statusCode: number; body: Uint8Array } }>
}

export function streamRequests(
  target: Target,
  prefix = 'DynamoDBStreams_20120810',
): StreamRequests {
  return async (operation, input) => {
    const headers = {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `${prefix}.${operation}`,
      'x-amz-date': '20260101T000000Z',
      authorization:
        'AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
    }
    const { status, text } = await sent(target, headers, JSON.stringify(input))
    const answer = JSON.parse(text)
    if (status === 200) return answer
    const error = new Error(answer.message ?? answer.Message ?? '')
    error.name = answer['__type'].split('#')[1]
    throw error
  }
}

async function sent(
  { endpoint, client }: Target,
  headers: Record<string, string>,
  body: string,
): Promise<{ status: number; text: string }> {
  if (endpoint !== undefined) {
    const response = await fetch(endpoint, { method: 'POST', headers, body })
    return { status: response.status, text: await response.text() }
  }
  const handler = client.config.requestHandler as unknown as Handler
  const { response } = await handler.handle({ headers, body })
  return { status: response.statusCode, text: Buffer.from(response.body).toString() }
}

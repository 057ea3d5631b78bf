// Prepared requests of the wire protocol, the same for every server.

import { CASES, type Case } from '../cases.ts'
import { keyOf, ORDER_PREFIX, orderOf, type Sample, TABLE } from '../data.ts'
import { TABLE_INPUT } from '../systems/engine.ts'
import { attributes } from '../systems/sdk.ts'

const BATCH = 25
const MAX_REQUESTS = 600

/** All servers require a signature, but none of them verifies it. */
export function requestBytes(operation: string, input: object): Buffer {
  const body = JSON.stringify(input)
  return Buffer.from(
    `POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-amz-json-1.0\r\n` +
      `x-amz-target: DynamoDB_20120810.${operation}\r\nx-amz-date: 20260101T000000Z\r\n` +
      'authorization: AWS4-HMAC-SHA256 Credential=bench/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0\r\n' +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}

export function createTableRequest(): Buffer {
  return requestBytes('CreateTable', TABLE_INPUT)
}

export function loadRequests(count: number): Buffer[] {
  return Array.from({ length: Math.ceil(count / BATCH) }, (_, batch) => {
    const size = Math.min(BATCH, count - batch * BATCH)
    const requests = Array.from({ length: size }, (__, at) => ({
      PutRequest: { Item: attributes(orderOf(keyOf(batch * BATCH + at))) },
    }))
    return requestBytes('BatchWriteItem', { RequestItems: { [TABLE]: requests } })
  })
}

const build: Record<Case, (sample: Sample, i: number) => Buffer> = {
  get: (sample, i) => requestBytes('GetItem', { TableName: TABLE, Key: attributes(sample.key(i)) }),
  put: (sample, i) =>
    requestBytes('PutItem', { TableName: TABLE, Item: attributes(orderOf(sample.key(i), i)) }),
  update: (sample, i) =>
    requestBytes('UpdateItem', {
      TableName: TABLE,
      Key: attributes(sample.key(i)),
      UpdateExpression: 'SET stock = stock - :quantity',
      ConditionExpression: 'stock >= :quantity',
      ExpressionAttributeValues: { ':quantity': { N: '1' } },
    }),
  transaction: (sample, i) =>
    requestBytes('TransactWriteItems', {
      TransactItems: sample.three(i).map((order) => ({
        Put: { TableName: TABLE, Item: attributes(order) },
      })),
    }),
  query: (sample, i) =>
    requestBytes('Query', {
      TableName: TABLE,
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: {
        ':pk': { S: sample.key(i).pk },
        ':prefix': { S: ORDER_PREFIX },
      },
    }),
}

export function caseRequests(sample: Sample): Record<Case, Buffer[]> {
  const made = CASES.map((what) => [
    what,
    Array.from({ length: MAX_REQUESTS }, (_, i) => build[what](sample, i)),
  ])
  return Object.fromEntries(made) as Record<Case, Buffer[]>
}

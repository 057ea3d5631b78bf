import { describe, expect, onTestFinished, test } from 'vitest'
import { AccessDenied } from '../src/access-denied.ts'
import { createAwsDb } from '../src/aws-db.ts'
import { createAwsKms } from '../src/aws-kms.ts'
import { serveHttp } from './loopback-server.ts'

const caller = 'arn:aws:sts::111122223333:assumed-role/server/i-0123'
const options = {
  region: 'eu-central-1',
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
}

/** An AWS that denies every call with this message. */
async function denying(message: string): Promise<string> {
  const port = await serveHttp((_request, response) => {
    response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' })
    response.end(JSON.stringify({ __type: 'com.amazonaws#AccessDeniedException', message }))
  })
  return `http://127.0.0.1:${port}`
}

async function messageOf(call: Promise<unknown>): Promise<string> {
  const error: unknown = await call.catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(AccessDenied)
  expect(error).toMatchObject({ name: 'AccessDeniedException' })
  return (error as Error).message
}

describe('a call that AWS denies', () => {
  test('to DynamoDB names the action and the table, not the caller, and says what to do', async () => {
    const endpoint = await denying(
      `User: ${caller} is not authorized to perform: dynamodb:DescribeTable on resource: arn:aws:dynamodb:eu-central-1:111122223333:table/strongroom-server because no identity-based policy allows the dynamodb:DescribeTable action`,
    )
    const db = createAwsDb({ ...options, endpoint })
    onTestFinished(() => db.close())
    expect(await messageOf(db.describeTable({ TableName: 'strongroom-server' }))).toBe(
      'AWS denied dynamodb:DescribeTable on table/strongroom-server: add it to the IAM policy of this process. "strongroom tables policy" prints what a server needs; functions get their roles from the stack.',
    )
  })

  test('to KMS names the action and the key', async () => {
    const endpoint = await denying(
      `User: ${caller} is not authorized to perform: kms:Decrypt on resource: arn:aws:kms:eu-central-1:111122223333:key/1234 because no identity-based policy allows the kms:Decrypt action`,
    )
    const kms = createAwsKms({ ...options, endpoint })
    onTestFinished(() => kms.close())
    expect(await messageOf(kms.describeKey({ KeyId: 'arn' }))).toContain(
      'AWS denied kms:Decrypt on key/1234: add it',
    )
  })

  test.each([
    ['is not authorized to perform: dynamodb:ListTables', 'AWS denied dynamodb:ListTables: add it'],
    [
      'is not authorized to perform: dynamodb:ListTables on resource: *',
      'dynamodb:ListTables: add',
    ],
    ['The key is not accessible', 'The key is not accessible'],
  ])('with the message "%s" is explained as far as it says', async (message, expected) => {
    const db = createAwsDb({ ...options, endpoint: await denying(message) })
    onTestFinished(() => db.close())
    expect(await messageOf(db.ping())).toContain(expected)
  })
})

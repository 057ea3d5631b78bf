/** The wire protocol itself: headers, checksums, shapes of errors, and bodies no SDK would send. */
import { crc32 } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { testUnless, useTable } from './harness.ts'
import type { Target } from './target.ts'

interface WireAnswer {
  status: number
  headers: Headers
  text: string
  body: Record<string, unknown>
}

export function wire(target: Target): void {
  const { endpoint } = target
  if (!endpoint) return

  describe('the wire', () => {
    const table = useTable(target, { key: { pk: 'S' } })
    const key = { pk: { S: 'a' } }

    async function post(operation: string, body: unknown, headers = {}): Promise<WireAnswer> {
      const response = await fetch(endpoint ?? '', {
        method: 'POST',
        headers: {
          'content-type': 'application/x-amz-json-1.0',
          'x-amz-target': `DynamoDB_20120810.${operation}`,
          'x-amz-date': '20260101T000000Z',
          authorization:
            'AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
          ...headers,
        },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      })
      const text = await response.text()
      return { status: response.status, headers: response.headers, text, body: JSON.parse(text) }
    }

    test('a response has the content type of the protocol, a request id and a checksum', async () => {
      const { status, headers, text } = await post('GetItem', { TableName: table, Key: key })
      expect(status).toBe(200)
      expect(text).toBe('{}')
      expect(headers.get('content-type')).toBe('application/x-amz-json-1.0')
      expect(headers.get('x-amzn-requestid')).toMatch(/^[0-9A-Za-z-]{36,}$/)
      expect(headers.get('x-amz-crc32')).toBe(`${crc32(text)}`)
    })

    testUnless(target, 'health', 'answers a health check, and nothing else by GET', async () => {
      const healthy = await fetch(`${endpoint}/`)
      expect(healthy.status).toBe(200)
      const text = await healthy.text()
      expect(text).toMatch(/^healthy: dynamodb\.[a-z0-9-]+\.amazonaws\.com $/)
      expect(healthy.headers.get('x-amz-crc32')).toBe(`${crc32(text)}`)
      expect(healthy.headers.get('access-control-allow-origin')).toBeNull()
      expect((await fetch(`${endpoint}/tables`)).status).toBe(404)
    })

    testUnless(target, 'error-checksums', 'an error has a checksum too', async () => {
      const { headers, text } = await post('GetItem', { TableName: table, Key: {} })
      expect(headers.get('x-amz-crc32')).toBe(`${crc32(text)}`)
    })

    const refusals: [title: string, operation: string, body: unknown, type: string][] = [
      [
        'a table that does not exist',
        'GetItem',
        { TableName: 'nowhere-at-all', Key: key },
        'com.amazonaws.dynamodb.v20120810#ResourceNotFoundException',
      ],
      [
        'a key that is not valid',
        'GetItem',
        { TableName: table, Key: { pk: { S: '' } } },
        'com.amazon.coral.validate#ValidationException',
      ],
      [
        'a condition that fails',
        'DeleteItem',
        { TableName: table, Key: key, ConditionExpression: 'attribute_exists(pk)' },
        'com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException',
      ],
      [
        'a value of two types',
        'PutItem',
        { TableName: table, Item: { ...key, b: { S: 'x', N: '1' } } },
        'com.amazon.coral.validate#ValidationException',
      ],
      [
        'a value of an unknown type',
        'PutItem',
        { TableName: table, Item: { ...key, b: { X: 'x' } } },
        'com.amazon.coral.validate#ValidationException',
      ],
    ]
    for (const [title, operation, body, type] of refusals) {
      test(`refuses ${title} with 400 and ${type.split('#')[1]}`, async () => {
        const answer = await post(operation, body)
        expect(answer.status).toBe(400)
        expect(answer.body['__type']).toBe(type)
        expect(answer.body['message'] ?? answer.body['Message']).toEqual(expect.any(String))
      })
    }

    test('refuses an operation that does not exist', async () => {
      const { status, body } = await post('Nonsense', {})
      expect(status).toBe(400)
      expect(body['__type']).toMatch(/#UnknownOperationException$/)
    })

    const malformed: [title: string, body: unknown][] = [
      ['a body that is not JSON', '{'],
      ['an empty body', ''],
      ['a number in place of a table name', { TableName: 5, Key: key }],
      ['a string in place of a key', { TableName: table, Key: 'x' }],
      ['a number in place of a string value', { TableName: table, Key: { pk: { S: 5 } } }],
      ['a string in place of a boolean', { TableName: table, Key: key, ConsistentRead: 'maybe' }],
    ]
    for (const [title, body] of malformed) {
      testUnless(target, 'serialization', `refuses ${title}`, async () => {
        const answer = await post('GetItem', body)
        expect(answer.status).toBe(400)
        expect(answer.body['__type']).toBe('com.amazon.coral.service#SerializationException')
      })
    }

    const CLASS = 'com.amazonaws.dynamodb.v20120810'
    const wrongTypes: [title: string, operation: string, body: object, message: string][] = [
      [
        'a boolean in place of a string',
        'GetItem',
        { TableName: true },
        'TRUE_VALUE cannot be converted to String',
      ],
      [
        'an integer in place of a string',
        'GetItem',
        { TableName: 23 },
        'NUMBER_VALUE cannot be converted to String',
      ],
      [
        'a fraction in place of a string',
        'GetItem',
        { TableName: 34.56 },
        'DECIMAL_VALUE cannot be converted to String',
      ],
      [
        'a list in place of a string',
        'GetItem',
        { TableName: [] },
        'Unrecognized collection type class java.lang.String',
      ],
      [
        'a structure in place of a string',
        'GetItem',
        { TableName: {} },
        'Start of structure or map found where not expected',
      ],
      [
        'a string in place of an integer',
        'Query',
        { Limit: '23' },
        'STRING_VALUE cannot be converted to Integer',
      ],
      [
        'a boolean in place of a long',
        'UpdateTable',
        { ProvisionedThroughput: { ReadCapacityUnits: false } },
        'FALSE_VALUE cannot be converted to Long',
      ],
      [
        'a text that is no boolean',
        'GetItem',
        { ConsistentRead: '23' },
        'Unexpected token received from parser',
      ],
      [
        'a string in place of a list',
        'BatchGetItem',
        { RequestItems: { t: { Keys: 'x' } } },
        'Unexpected field type',
      ],
      ['a string in place of a map', 'GetItem', { Key: 'x' }, 'Unexpected field type'],
      [
        'a list in place of a map of values',
        'GetItem',
        { Key: [] },
        `Unrecognized collection type java.util.Map<java.lang.String, ${CLASS}.AttributeValue>`,
      ],
      [
        'a string in place of a structure',
        'UpdateTable',
        { ProvisionedThroughput: 'x' },
        'Unexpected field type',
      ],
      [
        'a list in place of a structure',
        'UpdateTable',
        { ProvisionedThroughput: [] },
        `Unrecognized collection type class ${CLASS}.ProvisionedThroughput`,
      ],
      [
        'a string in a list of structures',
        'CreateTable',
        { KeySchema: ['x'] },
        'Unexpected value type in payload',
      ],
      [
        'a string in a list of maps',
        'BatchGetItem',
        { RequestItems: { t: { Keys: ['x'] } } },
        "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class java.lang.Class (sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class are in module java.base of loader 'bootstrap')",
      ],
      [
        'a value that is a string',
        'GetItem',
        { Key: { a: 'x' } },
        'Unexpected value type in payload',
      ],
      [
        'a value that is a list',
        'GetItem',
        { Key: { a: [] } },
        `Unrecognized collection type class ${CLASS}.AttributeValue`,
      ],
      [
        'a number in a set of strings',
        'PutItem',
        { Item: { a: { SS: [1] } } },
        'NUMBER_VALUE cannot be converted to String',
      ],
      [
        'a list in place of bytes',
        'PutItem',
        { Item: { a: { L: [{ B: [] }] } } },
        'Unrecognized collection type class java.nio.ByteBuffer',
      ],
      [
        'a value of the wrong type before all other mistakes',
        'PutItem',
        {
          TableName: 'nowhere at all',
          Item: { pk: {}, m: { M: { x: { BOOL: 1 } } } },
          ReturnValues: 'X',
        },
        'NUMBER_VALUE cannot be converted to Boolean',
      ],
      [
        'an expression value of the wrong type before an unknown table',
        'DeleteItem',
        {
          TableName: 'nowhere-at-all',
          Key: key,
          ConditionExpression: 'a =',
          ExpressionAttributeValues: { ':a': { S: 1 } },
        },
        'NUMBER_VALUE cannot be converted to String',
      ],
    ]
    for (const [title, operation, body, message] of wrongTypes) {
      testUnless(target, 'serialization', `refuses ${title} with the text of AWS`, async () => {
        expect((await post(operation, body)).body).toEqual({
          __type: 'com.amazon.coral.service#SerializationException',
          Message: message,
        })
      })
    }

    testUnless(target, 'serialization', 'takes texts for booleans, as AWS does', async () => {
      const Item = {
        pk: { S: 'booleans' },
        yes: { BOOL: 'Yes' },
        no: { BOOL: '0' },
        nil: { NULL: 'true' },
      }
      const put = await post('PutItem', { TableName: table, Item })
      expect(put.text).toBe('{}')
      const got = await post('GetItem', {
        TableName: table,
        Key: { pk: Item.pk },
        ConsistentRead: 'true',
      })
      expect(got.body['Item']).toEqual({
        pk: { S: 'booleans' },
        yes: { BOOL: true },
        no: { BOOL: false },
        nil: { NULL: true },
      })
      const refused = await post('PutItem', {
        TableName: table,
        Item: { ...key, a: { NULL: 'no' } },
      })
      expect(refused.body['message']).toMatch(
        /Null attribute value types must have the value of true$/,
      )
    })

    testUnless(target, 'serialization', 'refuses what is not base64', async () => {
      const answer = await post('PutItem', { TableName: table, Item: { ...key, b: { B: '!' } } })
      expect(answer.status).toBe(400)
      expect(answer.body['__type']).toBe('com.amazon.coral.service#SerializationException')
    })

    test('ignores parameters it does not know, and those that are null', async () => {
      const { status } = await post('GetItem', {
        TableName: table,
        Key: key,
        Nonsense: 1,
        ProjectionExpression: null,
        ExpressionAttributeNames: null,
        ConsistentRead: null,
      })
      expect(status).toBe(200)
    })

    test('keeps attributes named __proto__, at the top and inside', async () => {
      const item =
        '{"pk":{"S":"proto"},"__proto__":{"S":"x"},"m":{"M":{"__proto__":{"N":"1"},"constructor":{"BOOL":true}}}}'
      await post('PutItem', `{"TableName":"${table}","Item":${item}}`)
      const Key = { pk: { S: 'proto' } }
      const got = await post('GetItem', { TableName: table, Key })
      expect(sorted(got.text)).toBe(sorted(`{"Item":${item}}`))
      const updated = await post(
        'UpdateItem',
        `{"TableName":"${table}","Key":{"pk":{"S":"proto"}},"UpdateExpression":"SET m.#p = :v REMOVE #p","ExpressionAttributeNames":{"#p":"__proto__"},"ExpressionAttributeValues":{":v":{"S":"y"}},"ReturnValues":"ALL_NEW"}`,
      )
      expect(sorted(updated.text)).toBe(
        sorted(
          '{"Attributes":{"pk":{"S":"proto"},"m":{"M":{"__proto__":{"S":"y"},"constructor":{"BOOL":true}}}}}',
        ),
      )
    })

    test('writes times as seconds', async () => {
      const { body } = await post('DescribeTable', { TableName: table })
      const { CreationDateTime: created } = body['Table'] as Record<string, unknown>
      expect(Math.abs(Number(created) - Date.now() / 1000)).toBeLessThan(3600)
    })
  })
}

/** The characters of a JSON text, whatever the order of its members. */
function sorted(text: string): string {
  return text
    .split(/(?<=[{}[\],:])|(?=[{}[\],:])/)
    .toSorted()
    .join('')
}

/**
 * Turns SDK commands into calls of the in-process face, so that the very same suites test it.
 *
 * Attribute values become plain JavaScript values on the way in and typed ones on the way out, with
 * no checks of its own: whatever is wrong with a request, the engine has to find it. What has no
 * plain form at all (an AttributeValue without a type, a set with a member twice) cannot be asked.
 */
import type { Engine } from '../src/engine.ts'
import { NumberValue } from '../src/values/types.ts'

type Json = Record<string, unknown>
type Convert = (value: unknown) => unknown

/** The members of requests and responses that contain attribute values. */
const inputs: Record<string, (convert: Convert) => Convert> = {
  Item: mapOf,
  Key: mapOf,
  ExclusiveStartKey: mapOf,
  ExpressionAttributeValues: mapOf,
  Keys: (convert) => listOf(mapOf(convert)),
  Parameters: listOf,
  Expected: (convert) => mapOf(fields({ Value: convert, AttributeValueList: listOf(convert) })),
  AttributeUpdates: (convert) => mapOf(fields({ Value: convert })),
  KeyConditions: (convert) => mapOf(fields({ AttributeValueList: listOf(convert) })),
  QueryFilter: (convert) => mapOf(fields({ AttributeValueList: listOf(convert) })),
  ScanFilter: (convert) => mapOf(fields({ AttributeValueList: listOf(convert) })),
}

/** A request handler for a DynamoDBClient that calls the methods of the engine. */
export function plainFace(engine: Engine) {
  return {
    metadata: { handlerProtocol: 'http/1.1' },
    async handle(request: { headers: Record<string, string>; body?: unknown }) {
      const operation = request.headers['x-amz-target']?.split('.').at(-1) ?? ''
      const method = operation.charAt(0).toLowerCase() + operation.slice(1)
      const call = (engine as unknown as Record<string, (input: unknown) => Promise<unknown>>)[
        method
      ]
      if (!call) throw new Error(`The in-process face has no "${method}"`)
      try {
        const input = toPlain(JSON.parse(text(request.body)), plain)
        return { response: response(200, output(operation, (await call(input)) as Json)) }
      } catch (error) {
        if (!(error instanceof Error) || !('statusCode' in error)) throw error
        return { response: response(Number(error.statusCode), failure(error)) }
      }
    },
    updateHttpClientConfig() {},
    httpHandlerConfigs: () => ({}),
    destroy() {},
  }
}

/** Walks a request down to its attribute values; a table may have any name, so not by name alone. */
function toPlain(value: unknown, convert: Convert): unknown {
  if (Array.isArray(value)) return value.map((one) => toPlain(one, convert))
  if (typeof value !== 'object' || value === null) return value
  return mapEntries(value as Json, (inner, name) => {
    const field = inputs[name]
    return field ? field(convert)(inner) : toPlain(inner, convert)
  })
}

function output(operation: string, result: Json): Json {
  const items = listOf(mapOf(typed))
  const shape: Record<string, Convert> = {
    Item: mapOf(typed),
    Attributes: mapOf(typed),
    Items: items,
    Records: listOf(
      fields({
        dynamodb: fields({ Keys: mapOf(typed), NewImage: mapOf(typed), OldImage: mapOf(typed) }),
      }),
    ),
    LastEvaluatedKey: mapOf(typed),
    UnprocessedKeys: mapOf(fields({ Keys: items })),
    UnprocessedItems: mapOf(
      listOf(
        fields({
          PutRequest: fields({ Item: mapOf(typed) }),
          DeleteRequest: fields({ Key: mapOf(typed) }),
        }),
      ),
    ),
    ItemCollectionMetrics:
      operation === 'BatchWriteItem' || operation === 'TransactWriteItems'
        ? mapOf(listOf(fields({ ItemCollectionKey: mapOf(typed) })))
        : fields({ ItemCollectionKey: mapOf(typed) }),
    Responses:
      operation === 'BatchGetItem'
        ? mapOf(items)
        : listOf(fields({ Item: mapOf(typed), Error: fields({ Item: mapOf(typed) }) })),
  }
  return fields(shape)(result) as Json
}

function failure(error: Error): Json {
  const { Item, CancellationReasons } = error as Error & {
    Item?: Json
    CancellationReasons?: Json[]
  }
  return {
    __type: `com.amazonaws.dynamodb.v20120810#${error.name}`,
    message: error.message,
    ...(Item && { Item: mapOf(typed)(Item) }),
    ...(CancellationReasons && {
      CancellationReasons: listOf(fields({ Item: mapOf(typed) }))(CancellationReasons),
    }),
  }
}

function plain(value: unknown): unknown {
  const [[type, inner] = []] = Object.entries(value as Json)
  switch (type) {
    case 'N':
      return number(inner as string)
    case 'B':
      return binary(inner as string)
    case 'NULL':
      return null
    case 'L':
      return (inner as unknown[]).map(plain)
    case 'M':
      return mapOf(plain)(inner)
    case 'SS':
      return new Set(inner as string[])
    case 'NS':
      return new Set((inner as string[]).map(number))
    case 'BS':
      return new Set((inner as string[]).map(binary))
    default:
      return inner
  }
}

function number(text_: string): number | NumberValue {
  return String(Number(text_)) === text_ ? Number(text_) : new NumberValue(text_)
}

const binary = (base64: string) => new Uint8Array(Buffer.from(base64, 'base64'))
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')

function typed(value: unknown): unknown {
  if (typeof value === 'string') return { S: value }
  if (typeof value === 'boolean') return { BOOL: value }
  if (typeof value === 'number' || value instanceof NumberValue) return { N: decimal(value) }
  if (value === null) return { NULL: true }
  if (value instanceof Uint8Array) return { B: base64(value) }
  if (Array.isArray(value)) return { L: value.map(typed) }
  if (value instanceof Set) return typedSet([...value])
  return { M: mapOf(typed)(value) }
}

function typedSet(members: unknown[]): Json {
  if (typeof members[0] === 'string') return { SS: members }
  if (members[0] instanceof Uint8Array) return { BS: (members as Uint8Array[]).map(base64) }
  return { NS: (members as number[]).map(decimal) }
}

/** Positional digits, as DynamoDB writes numbers; JavaScript would write 1e+21. */
function decimal(value: number | NumberValue): string {
  const [mantissa = '', exponent = '0'] = String(value).split(/e/i)
  const sign = mantissa.startsWith('-') ? '-' : ''
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.')
  const digits = whole + fraction
  const point = whole.length + Number(exponent)
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  if (point >= digits.length) return sign + digits + '0'.repeat(point - digits.length)
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
}

function mapOf(convert: Convert): Convert {
  return (value) => (isObject(value) ? mapEntries(value, convert) : value)
}

function listOf(convert: Convert): Convert {
  return (value) => (Array.isArray(value) ? value.map(convert) : value)
}

/** Converts the named fields and leaves the others as they are. */
function fields(shape: Record<string, Convert>): Convert {
  return (value) =>
    isObject(value) ? mapEntries(value, (inner, name) => (shape[name] ?? same)(inner)) : value
}

const same: Convert = (value) => value

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function mapEntries(value: Json, convert: (inner: unknown, name: string) => unknown): Json {
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, convert(inner, name)]),
  )
}

function text(body: unknown): string {
  if (typeof body === 'string') return body
  return body instanceof Uint8Array ? new TextDecoder().decode(body) : '{}'
}

function response(statusCode: number, body: Json) {
  return {
    statusCode,
    headers: { 'content-type': 'application/x-amz-json-1.0' },
    body: new TextEncoder().encode(JSON.stringify(body)),
  }
}

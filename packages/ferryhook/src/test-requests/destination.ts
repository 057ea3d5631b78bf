/**
 * The built-in test destination. A connection whose URL is `test:STATUS` delivers to it: in this
 * process, without a socket. It records the request and responds with the status.
 */
import { promisify } from 'node:util'
import { constants, gunzip, gzip } from 'node:zlib'
import { buildRequestHeaders } from '@strongroom/kit/safe-fetch/request-headers'
import type { Connection } from '../connections/item.ts'
import { ferryhookError } from '../errors.ts'
import { MAX_BODY_BYTES } from '../events/values.ts'
import { USER_AGENT } from '../outbound/destination-url.ts'
import type { Fetcher } from '../outbound/exchange.ts'
import type { SealedSecrets } from '../signing/sealed-secrets.ts'
import { eventMethods } from '../sources/values.ts'
import type { Stores } from '../stores.ts'
import type { TestRequest } from './item.ts'

const TEST_URL = /^test:([2-5]\d\d)$/

/** The status that a destination URL asks for; undefined unless it is the test destination's. */
export function testStatusOf(destinationUrl: string): number | undefined {
  const [, status] = TEST_URL.exec(destinationUrl) ?? []
  return status === undefined ? undefined : Number(status)
}

/** Whether a URL means the test destination. Throws `invalid_destination` if it names no status. */
export function isTestUrl(destinationUrl: string, path: string): boolean {
  if (!/^test:/i.test(destinationUrl)) return false
  if (testStatusOf(destinationUrl) !== undefined) return true
  const message = 'The test destination is test: and a status from 200 to 599, such as test:200'
  const data = { reason: 'invalid_url' }
  throw ferryhookError('invalid_destination', { details: [{ path, message }], data })
}

export type RecordedHeaders = Record<string, string | string[]>

/** Undefined if the connection delivers to somewhere else. */
export type TestDestination = (
  connection: Connection,
  sent: Pick<TestRequest, 'eventId' | 'attemptNumber'>,
) => Fetcher | undefined

export function createTestDestination({
  stores,
  sealedSecrets,
}: {
  stores: Pick<Stores, 'testRequests'>
  sealedSecrets: Pick<SealedSecrets, 'sealTestRequest'>
}): TestDestination {
  return (connection, { eventId, attemptNumber }) => {
    const status = testStatusOf(connection.destinationUrl)
    if (status === undefined) return undefined
    const { connectionId, userId } = connection
    return async (_url, { method = 'POST', headers = {}, body = '' }) => {
      const bytes = typeof body === 'string' ? Buffer.from(body) : body
      const sent: RecordedHeaders = {
        ...buildRequestHeaders(headers, { 'user-agent': USER_AGENT }),
        'content-length': String(bytes.byteLength),
      }
      const head = Buffer.from(`${JSON.stringify(sent)}\n`)
      if (head.byteLength > MAX_HEADER_BYTES) return headersTooLarge
      const number = await stores.testRequests.nextNumber(connectionId)
      const packed = await packContent(head, bytes)
      const content = await sealedSecrets.sealTestRequest({ connectionId, userId, number }, packed)
      await stores.testRequests.put(
        {
          connectionId,
          userId,
          number,
          eventId,
          ...(attemptNumber !== undefined && { attemptNumber }),
          method: eventMethods.find((each) => each === method) ?? 'POST',
          statusCode: status,
          bodyBytes: bytes.byteLength,
          hasCredentials: connection.customHeaders !== undefined,
        },
        content,
      )
      return { status, headers: {}, body: Buffer.from(`Recorded as test request ${number}`) }
    }
  }
}

const LINE_END = 0x0a
/** Of the headers as JSON: with the largest body they still fit into an item of 400 KB. */
const MAX_HEADER_BYTES = 131_072
const MAX_CONTENT_BYTES = MAX_BODY_BYTES + MAX_HEADER_BYTES

/** As of most servers, which accept much less. */
const headersTooLarge = {
  status: 431,
  headers: {},
  body: Buffer.from(`Not recorded: the headers have more than ${MAX_HEADER_BYTES} bytes`),
}

/** The headers as a line of JSON, then the body. */
async function packContent(head: Uint8Array, body: Uint8Array): Promise<Uint8Array> {
  return promisify(gzip)(Buffer.concat([head, body]), { level: constants.Z_BEST_SPEED })
}

export async function unpackContent(
  packed: Uint8Array,
): Promise<{ headers: RecordedHeaders; body: Uint8Array }> {
  const content = await promisify(gunzip)(packed, { maxOutputLength: MAX_CONTENT_BYTES })
  const end = content.indexOf(LINE_END)
  const headers = JSON.parse(content.subarray(0, end).toString()) as RecordedHeaders
  return { headers, body: content.subarray(end + 1) }
}

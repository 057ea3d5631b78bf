/** A request to the built-in test destination, recorded for the owner of the connection. */
import * as z from 'zod'
import { keyTemplate } from '../storage/key-template.ts'
import { bytes, count, id, milliseconds, seconds } from '../storage/schemas.ts'
import { eventMethods } from '../sources/values.ts'

/** Per connection; a newer request takes the slot of the oldest. */
export const MAX_TEST_REQUESTS = 20
export const TEST_REQUEST_SECONDS = 86_400

export const testRequestKey = keyTemplate({ PK: 'TEST#{connectionId}', SK: 'REQ#{slot}' })
export const testContentKey = keyTemplate({ PK: 'TEST#{connectionId}', SK: 'CONTENT#{slot}' })
export const testCounterKey = keyTemplate({ PK: 'TEST#{connectionId}', SK: 'COUNTER' })

const number = z.number().int().positive()

export const TestRequestItem = z.object({
  ...testRequestKey.fields,
  connectionId: id('conn'),
  userId: id('usr'),
  /** 1 for the first request of the connection. */
  number,
  eventId: id('evt'),
  /** Absent for a test event, which is no delivery. */
  attemptNumber: z.number().int().min(1).max(8).optional(),
  method: z.enum(eventMethods),
  /** The status that the test destination responded with. */
  statusCode: z.number().int().min(200).max(599),
  bodyBytes: count,
  /** Whether the connection added headers of its own, which may be credentials. */
  hasCredentials: z.boolean(),
  receivedAt: milliseconds,
  expiresAt: seconds,
})
export type TestRequest = z.infer<typeof TestRequestItem>

/** An item of its own, so that a list does not read up to 256 KB for each request. */
export const TestContentItem = z.object({
  ...testContentKey.fields,
  number,
  /** Headers and body, compressed and sealed. */
  content: bytes,
  expiresAt: seconds,
})

/** The number of the last request. */
export const TestCounterItem = z.object({
  ...testCounterKey.fields,
  number,
  expiresAt: seconds,
})

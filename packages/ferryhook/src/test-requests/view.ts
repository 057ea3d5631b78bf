import { z } from '@hono/zod-openapi'
import { Time } from '../deliveries/view.ts'
import { BodyView, toBodyView } from '../events/view.ts'
import type { TestRequest } from './item.ts'
import type { TestRequestDetail } from './service.ts'

export const TestRequestView = z
  .object({
    number: z.int().openapi({ description: '1 for the first request of the connection' }),
    eventId: z.string(),
    attempt: z.int().nullable().openapi({ description: 'null for a test event' }),
    method: z.string(),
    statusCode: z.int().openapi({ description: 'The response of the test destination' }),
    bodyBytes: z.int(),
    receivedAt: Time,
    expiresAt: Time,
  })
  .openapi('FerryhookTestRequest')

export const TestRequestDetailView = TestRequestView.extend({
  headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
  ...BodyView.shape,
}).openapi('FerryhookTestRequestDetail')

export function toTestRequestView(request: TestRequest): z.infer<typeof TestRequestView> {
  const { number, eventId, attemptNumber, method, statusCode, bodyBytes } = request
  return {
    number,
    eventId,
    attempt: attemptNumber ?? null,
    method,
    statusCode,
    bodyBytes,
    receivedAt: new Date(request.receivedAt).toISOString(),
    expiresAt: new Date(request.expiresAt * 1000).toISOString(),
  }
}

export function toTestRequestDetailView(
  request: TestRequestDetail,
): z.infer<typeof TestRequestDetailView> {
  const { headers, body } = request
  return { ...toTestRequestView(request), headers, ...toBodyView(body) }
}

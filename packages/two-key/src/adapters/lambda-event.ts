/** What AWS Lambda is called with by API Gateway (both formats), a function URL, or a load balancer. */
import type { HeaderSource } from '../signature/headers.ts'
import { bareContentType } from './screen.ts'

type LambdaHeaders = Readonly<Record<string, string | undefined>>

export interface LambdaEvent {
  headers?: LambdaHeaders | null
  multiValueHeaders?: Readonly<Record<string, readonly string[] | undefined>> | null
  body?: string | null
  isBase64Encoded?: boolean
}

export function rawBodyOf({ body, isBase64Encoded }: LambdaEvent): Uint8Array {
  return Buffer.from(body ?? '', isBase64Encoded === true ? 'base64' : 'utf8')
}

/** Of a header that is sent twice the first format shows the last; both are in the other field. */
export function headersOf({ headers, multiValueHeaders }: LambdaEvent): HeaderSource {
  return multiValueHeaders ?? headers ?? {}
}

/** The event as text and with a bare content type, which is what frameworks expect. */
export function readableEvent<Event extends LambdaEvent>(event: Event, rawBody: Uint8Array): Event {
  const headers = event.headers ?? singleHeaders(event.multiValueHeaders ?? {})
  return {
    ...event,
    body: Buffer.from(rawBody).toString('utf8'),
    isBase64Encoded: false,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        name.toLowerCase() === 'content-type' && value !== undefined
          ? bareContentType(value)
          : value,
      ]),
    ),
  }
}

function singleHeaders(
  headers: Readonly<Record<string, readonly string[] | undefined>>,
): LambdaHeaders {
  return Object.fromEntries(Object.entries(headers).map(([name, values]) => [name, values?.at(-1)]))
}

/** For AWS Lambda behind API Gateway (both formats), a function URL or a load balancer. */
import type { HeaderSource } from '../signature.ts'
import type { TwoKey } from '../verify.ts'
import { bareContentType, type Verified, verifyAndRespond } from './respond.ts'

type LambdaHeaders = Readonly<Record<string, string | undefined>>

export interface LambdaEvent {
  headers?: LambdaHeaders | null
  multiValueHeaders?: Readonly<Record<string, readonly string[] | undefined>> | null
  body?: string | null
  isBase64Encoded?: boolean
}

export interface LambdaResult {
  statusCode: number
  headers?: Record<string, boolean | number | string>
  body?: string
  isBase64Encoded?: boolean
}

/**
 * Calls the handler for verified requests and responds to all others. Takes exactly two arguments,
 * because newer runtimes reject a handler with three.
 */
export function twoKeyLambda<Event extends LambdaEvent, Context, Result>(
  keys: TwoKey,
  handler: (event: Event, context: Context, verified: Verified) => Promise<Result>,
): (event: Event, context: Context) => Promise<Result | LambdaResult> {
  return async (event, context) => {
    const rawBody = rawBodyOf(event)
    const responded = await verifyAndRespond({ rawBody, headers: headersOf(event) }, keys)
    if ('verified' in responded) {
      return handler(toTextEvent(event, rawBody), context, responded.verified)
    }
    const { status, headers, body } = responded.response
    return { statusCode: status, headers: { ...headers }, body, isBase64Encoded: false }
  }
}

function rawBodyOf({ body, isBase64Encoded }: LambdaEvent): Uint8Array {
  return Buffer.from(body ?? '', isBase64Encoded === true ? 'base64' : 'utf8')
}

/** `headers` has only the last value of a duplicate header; `multiValueHeaders` has all of them. */
function headersOf({ headers, multiValueHeaders }: LambdaEvent): HeaderSource {
  return multiValueHeaders ?? headers ?? {}
}

/** The event with a text body and a bare content type, as frameworks expect it. */
function toTextEvent<Event extends LambdaEvent>(event: Event, rawBody: Uint8Array): Event {
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
